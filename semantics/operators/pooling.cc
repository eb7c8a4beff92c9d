// Pooling over windows of each channel, and windows as columns of a matrix.
//
// Default strides place windows side by side. A window that covers only padding is an error of
// shape. The gradient of max_pool goes to the first of equal maxima, so it is constant between
// ties, and its own gradient in x is 0. runtime/kernels/pooling.cc evaluates these operators.
#include "runtime/kernels/convolution.h"

#include "semantics/operators/windows.h"

namespace rml {

namespace {

using dtypes::number, dtypes::real;

ShapeResult pooled(const Shape& x, std::span<const Attribute> attributes) {
  const WindowsResult windows = pool_windows(x, attributes);
  if (const auto* error = std::get_if<std::string>(&windows)) return *error;
  return outputs_of(std::get<0>(windows), x.size() - 2, x[0], x[1]);
}

ShapeResult pool_shape(const Application& app) { return pooled(app.operand_shapes[0], app.attributes); }

ShapeResult select_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &v = app.operand_shapes[1];
  if (x != v) return "places of maxima in " + to_string(x) + " are none in " + to_string(v);
  return pool_shape(app);
}

std::string not_pooled(const Shape& x, const Shape& expected, const Shape& g) {
  return "pooling of " + to_string(x) + " is of shape " + to_string(expected) + ", not " + to_string(g);
}

ShapeResult max_gradient_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const ShapeResult forward = pool_shape(app);
  if (std::holds_alternative<std::string>(forward)) return forward;
  if (std::get<Shape>(forward) != app.operand_shapes[1])
    return not_pooled(x, std::get<Shape>(forward), app.operand_shapes[1]);
  return x;
}

ShapeResult sum_gradient_shape(const Application& app) {
  const ShapeResult x = shape_attribute(app);
  if (std::holds_alternative<std::string>(x)) return x;
  const ShapeResult forward = pooled(std::get<Shape>(x), app.attributes.subspan(1));
  if (std::holds_alternative<std::string>(forward)) return forward;
  if (std::get<Shape>(forward) != app.operand_shapes[0])
    return not_pooled(std::get<Shape>(x), std::get<Shape>(forward), app.operand_shapes[0]);
  return x;
}

// ---- columns --------------------------------------------------------------------------------

ShapeResult columns(const Shape& x, std::span<const Attribute> attributes) {
  const window::Integers sizes(attributes[0].integers.data(), static_cast<std::int64_t>(attributes[0].integers.size()));
  const WindowsResult windows = windows_over(x, sizes, attributes.subspan(1));
  if (const auto* error = std::get_if<std::string>(&windows)) return *error;
  const window::Windows& w = std::get<0>(windows);
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(x[1], w.taps(), &rows)) return checked_shape({x[1], w.taps()});
  return checked_shape({x[0], rows, w.outputs()});
}

ShapeResult im2col_shape(const Application& app) { return columns(app.operand_shapes[0], app.attributes); }

ShapeResult col2im_shape(const Application& app) {
  const ShapeResult x = shape_attribute(app);
  if (std::holds_alternative<std::string>(x)) return x;
  const ShapeResult forward = columns(std::get<Shape>(x), app.attributes.subspan(1));
  if (std::holds_alternative<std::string>(forward)) return forward;
  if (std::get<Shape>(forward) != app.operand_shapes[0])
    return "the columns of " + to_string(std::get<Shape>(x)) + " are of shape " + to_string(std::get<Shape>(forward)) +
           ", not " + to_string(app.operand_shapes[0]);
  return x;
}

// ---- rows -----------------------------------------------------------------------------------

using Parameters = std::vector<OperatorParameter>;

Parameters windowed(Parameters list) {
  for (const OperatorParameter& p : {integers("window"), integers("strides", "all"), integers("padding", "all"),
                                     integers("dilations", "all"), integers("same", "0")})
    list.push_back(p);
  return list;
}
Parameters pool(Parameters list, bool counts = false) {
  list = windowed(std::move(list));
  list.push_back(integers("ceil_mode", "0"));
  if (counts) list.push_back(integers("count_include_pad", "0"));
  return list;
}

std::vector<OperatorInfo> max_rows() {
  return {
      of_form(
          WindowForm::max_pool,
          kernel_row<rml_kernel_max_pool>(
              "max_pool", "rml_kernel_max_pool", pool({operand("x", number)}), same(number), pool_shape,
              {"max_pool_gradient(x, dy, window=window, strides=strides, padding=padding, dilations=dilations, "
               "same=same, "
               "ceil_mode=ceil_mode)"},
              {"MaxPool",
               "The largest element of each window, or NaN if one is NaN. x has the shape [batch, channels, spatial…]. "
               "dilations, padding and same are as in conv, but padding is never the largest element. The default of "
               "strides is the window. With ceil_mode=1, windows that begin within x or its first padding may extend "
               "beyond the end.",
               "max_pool([[[1, 3, 2, 5, 4]]], 2, ceil_mode=1) -- [[3,5,4]]"})),
      kernel_row<rml_kernel_max_pool_indices>("max_pool_indices", "rml_kernel_max_pool_indices",
                                              pool({operand("x", number)}), exactly(DType::i64), pool_shape,
                                              {"none: the result is an integer"},
                                              {"MaxPool",
                                               "The positions of the maxima of max_pool, counted among all elements of "
                                               "x in row-major order. Of equal maxima, the first counts.",
                                               "max_pool_indices([[[1, 3, 3, 5]]], 3, strides=1) -- [[1,3]]"}),
      kernel_row<rml_kernel_max_pool_select>(
          "max_pool_select", "rml_kernel_max_pool_select", pool({operand("x", number), operand("v", number)}),
          same(number), select_shape,
          {"zeros_like(x)",
           "max_pool_gradient(x, dy, window=window, strides=strides, padding=padding, dilations=dilations, same=same, "
           "ceil_mode=ceil_mode)"},
          {"", "The elements of v at the positions at which max_pool finds the first maximum of each window of x.",
           "max_pool_select([[[1, 3, 7, 5]]], [[[4, 5, 6, 7]]], 2) -- [[5,6]]"}),
      of_form(WindowForm::max_pool_gradient,
              kernel_row<rml_kernel_max_pool_gradient>(
                  "max_pool_gradient", "rml_kernel_max_pool_gradient",
                  pool({operand("x", number), operand("g", number)}), same(number), max_gradient_shape,
                  {"zeros_like(x)",
                   "max_pool_select(x, dy, window=window, strides=strides, padding=padding, dilations=dilations, "
                   "same=same, "
                   "ceil_mode=ceil_mode)"},
                  {"",
                   "The adjoint of max_pool: each element of g is added at the position of the first maximum of its "
                   "window of "
                   "x.",
                   "max_pool_gradient([[[1, 3, 7, 5]]], [[[4, 5]]], 2) -- [[0,4,5,0]]"})),
  };
}

std::vector<OperatorInfo> sum_rows() {
  return {
      of_form(WindowForm::average_pool,
              kernel_row<rml_kernel_average_pool>(
                  "average_pool", "rml_kernel_average_pool", pool({operand("x", real)}, true), same(real), pool_shape,
                  {"average_pool_gradient(shape(x), dy, window=window, strides=strides, padding=padding, "
                   "dilations=dilations, "
                   "same=same, ceil_mode=ceil_mode, count_include_pad=count_include_pad)"},
                  {"AveragePool",
                   "The mean of each window, with the arguments of max_pool. Padding counts, as zeros, only with "
                   "count_include_pad=1. The part of a window beyond the padding never counts.",
                   "average_pool([[[1.0, 3.0, 2.0, 6.0]]], 2, strides=1) -- [[2,2.5,4]]"})),
      of_form(WindowForm::average_pool_gradient,
              kernel_row<rml_kernel_average_pool_gradient>(
                  "average_pool_gradient", "rml_kernel_average_pool_gradient",
                  pool({integers("shape"), operand("g", real)}, true), same(real), sum_gradient_shape,
                  {"average_pool(dy, window=window, strides=strides, padding=padding, dilations=dilations, same=same, "
                   "ceil_mode=ceil_mode, count_include_pad=count_include_pad)"},
                  {"",
                   "The adjoint of average_pool: each element of g is shared evenly by the elements of its window, in "
                   "a tensor "
                   "of the given shape.",
                   "average_pool_gradient([1, 1, 4], [[[4.0, 6.0]]], 2) -- [[2,2,3,3]]"})),
      of_form(
          WindowForm::sum_pool,
          kernel_row<rml_kernel_sum_pool>(
              "sum_pool", "rml_kernel_sum_pool", pool({operand("x", number)}), same(number), pool_shape,
              {"sum_pool_gradient(shape(x), dy, window=window, strides=strides, padding=padding, dilations=dilations, "
               "same=same, ceil_mode=ceil_mode)"},
              {"", "The sum of each window, with the arguments of max_pool.",
               "sum_pool([[[1, 3, 2, 6]]], 2, strides=1) -- [[4,5,8]]"})),
      of_form(
          WindowForm::sum_pool_gradient,
          kernel_row<rml_kernel_sum_pool_gradient>(
              "sum_pool_gradient", "rml_kernel_sum_pool_gradient", pool({integers("shape"), operand("g", number)}),
              same(number), sum_gradient_shape,
              {"sum_pool(dy, window=window, strides=strides, padding=padding, dilations=dilations, same=same, "
               "ceil_mode=ceil_mode)"},
              {"",
               "The adjoint of sum_pool: each element of g is added to all elements of its window, in a tensor of the "
               "given shape.",
               "sum_pool_gradient([1, 1, 3], [[[4, 6]]], 2, strides=1) -- [[4,10,6]]"})),
  };
}

std::vector<OperatorInfo> column_rows() {
  return {
      of_form(
          WindowForm::windows_as_columns,
          kernel_row<rml_kernel_im2col>(
              "im2col", "rml_kernel_im2col", windowed({operand("x", number)}), same(number), im2col_shape,
              {"col2im(shape(x), dy, window=window, strides=strides, padding=padding, dilations=dilations, same=same)"},
              {"",
               "The windows of x as columns, with the arguments of conv. The result has the shape [batch, channels * "
               "elements of the window, number of windows]. Within a column, the position in the window varies "
               "fastest.",
               "im2col([[[1, 2, 3]]], 2) -- [[1,2;2,3]]"})),
      of_form(WindowForm::columns_as_windows,
              kernel_row<rml_kernel_col2im>(
                  "col2im", "rml_kernel_col2im", windowed({integers("shape"), operand("columns", number)}),
                  same(number), col2im_shape,
                  {"im2col(dy, window=window, strides=strides, padding=padding, dilations=dilations, same=same)"},
                  {"Col2Im",
                   "The adjoint of im2col: the elements of the columns are added at the positions from which im2col "
                   "took them, "
                   "in a tensor of the given shape.",
                   "col2im([1, 1, 3], [[[1, 2], [2, 3]]], 2) -- [[1,4,3]]"})),
  };
}

}  // namespace

std::vector<OperatorInfo> pooling_operators() {
  std::vector<OperatorInfo> rows = max_rows();
  for (auto family : {sum_rows, column_rows}) {
    for (OperatorInfo& info : family()) rows.push_back(std::move(info));
  }
  return rows;
}

}  // namespace rml
