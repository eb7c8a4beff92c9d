// The windows of convolutions and pooling as shape rules, kernels and code generation read them.
#pragma once

#include "runtime/kernels/window.h"
#include "semantics/operators/rules.h"

namespace rml {

using WindowsResult = std::variant<window::Windows, std::string>;

// Over a tensor of shape `whole`. Attributes: strides, padding, dilations, same.
WindowsResult windows_over(const Shape& whole, window::Integers sizes, std::span<const Attribute> attributes);
// A convolution of x by a filter; what a transposed convolution of `from` makes, with output_padding.
WindowsResult filter_windows(const Shape& x, const Shape& filter, std::span<const Attribute> attributes);
WindowsResult transposed_windows(const Shape& from, const Shape& filter, std::span<const Attribute> attributes,
                                 const Attribute& output_padding);
// Pooling. Attributes: window, strides, padding, dilations, same, ceil_mode.
WindowsResult pool_windows(const Shape& x, std::span<const Attribute> attributes);

// [batch, channels, outputs or inputs…]
ShapeResult outputs_of(const window::Windows&, std::size_t axes, std::int64_t batch, std::int64_t channels);
ShapeResult inputs_of(const window::Windows&, std::size_t axes, std::int64_t batch, std::int64_t channels);

// What convolutions look like once shape rules have accepted them.
struct Convolution {
  window::Windows windows;
  std::int64_t batch = 0, groups = 1;
  std::int64_t in = 0, out = 0;  // channels of one group
};
// An application of conv, conv_input_gradient, conv_weight_gradient or conv_transpose.
Convolution convolution_of(std::string_view name, const Application&, const Shape& result);

// Pooling and its like: one file of rows for each.
std::vector<OperatorInfo> pooling_operators();

}  // namespace rml
