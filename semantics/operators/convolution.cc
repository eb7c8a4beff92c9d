// Convolutions over one to three spatial axes.
//
// Layout as in ONNX: x [batch, channels, spatial…], filters [channels out, channels in of one
// group, window…]; filters are not mirrored. A transposed convolution is the adjoint of a
// convolution in x, with the same filter. All rows are bilinear, and the gradients of each row
// are other rows of this file, so derivatives of any order exist. runtime/kernels/convolution.cc
// evaluates them; window.h there reads the attributes.
#include "runtime/kernels/convolution.h"

#include "semantics/operators/resampling.h"
#include "semantics/operators/windows.h"

namespace rml {

namespace {

using dtypes::number;
using Attributes = std::span<const Attribute>;

std::string channels_error(const Shape& x, const Shape& filter, std::int64_t groups, std::string_view channels) {
  return "channels differ: " + to_string(x) + " has " + std::to_string(x[1]) + ", a filter of shape " +
         to_string(filter) + " in " + std::to_string(groups) + (groups == 1 ? " group" : " groups") + " takes " +
         std::string(channels);
}

// Attributes: strides, padding, dilations, same, groups. Returns the error in a convolution of x
// to `outputs` channels, or an empty string.
std::string mismatch(const Shape& x, const Shape& filter, Attributes attributes) {
  const std::int64_t groups = attributes[4].integers.size() == 1 ? attributes[4].integers[0] : 0;
  if (groups < 1) return "groups must be one positive integer, not " + to_string(attributes[4].integers);
  if (filter[0] % groups != 0)
    return "the " + std::to_string(filter[0]) + " channels out of a filter of shape " + to_string(filter) +
           " do not divide into " + std::to_string(groups) + " groups";
  if (x[1] != filter[1] * groups) return channels_error(x, filter, groups, std::to_string(filter[1] * groups));
  return {};
}

ShapeResult conv_result(const Shape& x, const Shape& filter, Attributes attributes) {
  const WindowsResult windows = filter_windows(x, filter, attributes);
  if (const auto* error = std::get_if<std::string>(&windows)) return *error;
  if (std::string error = mismatch(x, filter, attributes); !error.empty()) return error;
  return outputs_of(std::get<0>(windows), x.size() - 2, x[0], filter[0]);
}

ShapeResult conv_shape(const Application& app) {
  return conv_result(app.operand_shapes[0], app.operand_shapes[1], app.attributes);
}

// The shape rule of an adjoint, whose first attribute is its shape. x and filter are those of the
// convolution.
ShapeResult adjoint_shape(const Application& app, const Shape& x, const Shape& filter, const Shape& g) {
  const ShapeResult forward = conv_result(x, filter, app.attributes.subspan(1));
  if (std::holds_alternative<std::string>(forward)) return forward;
  if (std::get<Shape>(forward) != g)
    return "a convolution of " + to_string(x) + " by " + to_string(filter) + " is of shape " +
           to_string(std::get<Shape>(forward)) + ", not " + to_string(g);
  return shape_attribute(app);
}

ShapeResult input_gradient_shape(const Application& app) {
  const ShapeResult x = shape_attribute(app);
  if (std::holds_alternative<std::string>(x)) return x;
  return adjoint_shape(app, std::get<Shape>(x), app.operand_shapes[1], app.operand_shapes[0]);
}

ShapeResult weight_gradient_shape(const Application& app) {
  const ShapeResult filter = shape_attribute(app);
  if (std::holds_alternative<std::string>(filter)) return filter;
  return adjoint_shape(app, app.operand_shapes[0], std::get<Shape>(filter), app.operand_shapes[1]);
}

ShapeResult transpose_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &filter = app.operand_shapes[1];
  const WindowsResult windows = transposed_windows(x, filter, app.attributes, app.attributes[5]);
  if (const auto* error = std::get_if<std::string>(&windows)) return *error;
  const Attribute& groups = app.attributes[4];
  const std::int64_t n = groups.integers.size() == 1 ? groups.integers[0] : 0;
  if (n < 1) return "groups must be one positive integer, not " + to_string(groups.integers);
  if (x[1] != filter[0] || filter[0] % n != 0) return channels_error(x, filter, n, std::to_string(filter[0]));
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(filter[1], n, &channels)) return checked_shape({filter[1], n});
  return inputs_of(std::get<0>(windows), x.size() - 2, x[0], channels);
}

std::vector<OperatorParameter> parameters(std::vector<OperatorParameter> list) {
  for (const OperatorParameter& p : {integers("strides", "all"), integers("padding", "all"),
                                     integers("dilations", "all"), integers("same", "0"), integers("groups", "1")})
    list.push_back(p);
  return list;
}

std::vector<OperatorInfo> forward_rows() {
  std::vector<OperatorInfo> rows;
  rows.push_back(of_form(
      WindowForm::convolution,
      kernel_row<rml_kernel_conv>(
          "conv", "rml_kernel_conv", parameters({operand("x", number), operand("w", number)}), same(number), conv_shape,
          {"conv_input_gradient(shape(x), dy, w, strides=strides, padding=padding, dilations=dilations, same=same, "
           "groups=groups)",
           "conv_weight_gradient(shape(w), x, dy, strides=strides, padding=padding, dilations=dilations, same=same, "
           "groups=groups)"},
          {"Conv",
           "The convolution of x, of shape [batch, channels, spatial…] with one to three spatial axes, with filters of "
           "shape [channels out, channels / groups, window…]: the sums of the products in each window, without "
           "mirroring. "
           "Outside x, elements count as zeros. strides, dilations and padding are one integer or one per axis; "
           "padding "
           "may also list all beginnings and then all ends. same=1 pads so that the extent of the result is "
           "ceil(extent / "
           "stride), with an odd element at the end; same=2 puts it at the beginning.",
           "conv([[[1, 2, 3, 4]]], [[[1, 10]]], padding=[0, 1]) -- [[21,32,43,4]]"})));
  std::vector<OperatorParameter> transposed = parameters({operand("x", number), operand("w", number)});
  transposed.push_back(integers("output_padding", "0"));
  rows.push_back(of_form(
      WindowForm::transposed_convolution,
      kernel_row<rml_kernel_conv_transpose>(
          "conv_transpose", "rml_kernel_conv_transpose", std::move(transposed), same(number), transpose_shape,
          {"conv(dy, w, strides=strides, padding=padding, dilations=dilations, same=same, groups=groups)",
           "conv_weight_gradient(shape(w), dy, x, strides=strides, padding=padding, dilations=dilations, same=same, "
           "groups=groups)"},
          {"ConvTranspose",
           "The adjoint of conv with respect to x. Each element of x is multiplied by the filters, of shape [channels, "
           "channels out / groups, window…], and added at the positions that conv would have read for it. The extents "
           "of "
           "the result are (extent - 1) stride + reach of the window - padding + output_padding, where output_padding "
           "is "
           "less than the stride; with same, they are extent times stride.",
           "conv_transpose([[[1, 2, 3]]], [[[1, 10]]], strides=2) -- [[1,10,2,20,3,30]]"})));
  return rows;
}

std::vector<OperatorInfo> adjoint_rows() {
  std::vector<OperatorInfo> rows;
  rows.push_back(of_form(
      WindowForm::input_gradient,
      kernel_row<rml_kernel_conv_input_gradient>(
          "conv_input_gradient", "rml_kernel_conv_input_gradient",
          parameters({integers("shape"), operand("g", number), operand("w", number)}), same(number),
          input_gradient_shape,
          {"conv(dy, w, strides=strides, padding=padding, dilations=dilations, same=same, groups=groups)",
           "conv_weight_gradient(shape(w), dy, g, strides=strides, padding=padding, dilations=dilations, same=same, "
           "groups=groups)"},
          {"",
           "The adjoint of x in conv(x, w, …), where g is the adjoint of the result. It has the given shape, that of "
           "x.",
           "conv_input_gradient([1, 1, 3], [[[1, 2]]], [[[1, 10]]]) -- [[1,12,20]]"})));
  rows.push_back(of_form(
      WindowForm::filter_gradient,
      kernel_row<rml_kernel_conv_weight_gradient>(
          "conv_weight_gradient", "rml_kernel_conv_weight_gradient",
          parameters({integers("shape"), operand("x", number), operand("g", number)}), same(number),
          weight_gradient_shape,
          {"conv_input_gradient(shape(x), g, dy, strides=strides, padding=padding, dilations=dilations, same=same, "
           "groups=groups)",
           "conv(x, dy, strides=strides, padding=padding, dilations=dilations, same=same, groups=groups)"},
          {"",
           "The adjoint of w in conv(x, w, …), where g is the adjoint of the result. It has the given shape, that of "
           "w.",
           "conv_weight_gradient([1, 1, 2], [[[1, 2, 3]]], [[[1, 10]]]) -- [[21,32]]"})));
  return rows;
}

}  // namespace

std::vector<OperatorInfo> convolution_operators() {
  std::vector<OperatorInfo> rows = forward_rows();
  for (OperatorInfo& info : adjoint_rows()) rows.push_back(std::move(info));
  for (const auto family : {pooling_operators, resize_operators, grid_sample_operators}) {
    for (OperatorInfo& info : family()) rows.push_back(std::move(info));
  }
  return rows;
}

}  // namespace rml
