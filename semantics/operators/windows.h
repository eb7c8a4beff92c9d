// The windows of convolutions and pooling, for shape rules, kernels and code generation.
#pragma once

#include "runtime/kernels/window.h"
#include "semantics/operators/rules.h"

namespace rml {

using WindowsResult = std::variant<window::Windows, std::string>;

// The windows over a tensor of shape `whole`. Attributes: strides, padding, dilations, same.
WindowsResult windows_over(const Shape& whole, window::Integers sizes, std::span<const Attribute> attributes);
// filter_windows: of a convolution of x. transposed_windows: of a transposed convolution of
// `from`.
WindowsResult filter_windows(const Shape& x, const Shape& filter, std::span<const Attribute> attributes);
WindowsResult transposed_windows(const Shape& from, const Shape& filter, std::span<const Attribute> attributes,
                                 const Attribute& output_padding);
// The windows of pooling. Attributes: window, strides, padding, dilations, same, ceil_mode.
WindowsResult pool_windows(const Shape& x, std::span<const Attribute> attributes);

// The shape [batch, channels, outputs or inputs…].
ShapeResult outputs_of(const window::Windows&, std::size_t axes, std::int64_t batch, std::int64_t channels);
ShapeResult inputs_of(const window::Windows&, std::size_t axes, std::int64_t batch, std::int64_t channels);

// A convolution whose attributes and shapes have passed the shape rules.
struct Convolution {
  window::Windows windows;
  std::int64_t batch = 0, groups = 1;
  std::int64_t in = 0, out = 0;  // numbers of input and output channels of one group
};
Convolution convolution_of(WindowForm, const Application&, const Shape& result);

// The rows of pooling and related operators.
std::vector<OperatorInfo> pooling_operators();

}  // namespace rml
