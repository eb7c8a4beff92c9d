// Samples images at points of a grid, as in ONNX; runtime/kernels/grid_sample.cc evaluates it.
//
// Samples are linear in x, so the adjoint of x has a derivative of its own. The adjoint of the
// grid has none.
#include "runtime/kernels/grid_sample.h"

#include <algorithm>

#include "semantics/operators/resampling.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::real;
using Attributes = std::span<const Attribute>;

// Checks the attributes mode, padding and align_corners.
std::string attributes_error(Attributes a) {
  const auto is_one = [](const std::string& text, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, text) != names.end();
  };
  if (!is_one(a[0].text, {"linear", "nearest", "cubic"}))
    return "the mode is \"linear\", \"nearest\" or \"cubic\", not \"" + a[0].text + "\"";
  if (!is_one(a[1].text, {"zeros", "border", "reflection"}))
    return "the padding is \"zeros\", \"border\" or \"reflection\", not \"" + a[1].text + "\"";
  return flag_error(a[2], "align_corners");
}

ShapeResult sampled(const Shape& x, const Shape& grid, Attributes attributes) {
  if (std::string error = attributes_error(attributes); !error.empty()) return error;
  if (x.size() != 4 && x.size() != 5)
    return "samples are of [batch, channels, two or three spatial axes], not of " + to_string(x);
  const auto axes = static_cast<std::int64_t>(x.size()) - 2;
  if (grid.size() != x.size() || grid[0] != x[0] || grid.back() != axes)
    return "a grid for " + to_string(x) + " is of shape [" + std::to_string(x[0]) + ", " + std::to_string(axes) +
           " axes of places, " + std::to_string(axes) + "], not " + to_string(grid);
  Shape y = {x[0], x[1]};
  y.insert(y.end(), grid.begin() + 1, grid.end() - 1);
  if (std::count(x.begin() + 2, x.end(), 0) > 0 && *element_count(grid) > 0)
    return "no elements to sample along an axis of " + to_string(x);
  return checked_shape(std::move(y));
}

ShapeResult sample_shape(const Application& app) {
  return sampled(app.operand_shapes[0], app.operand_shapes[1], app.attributes);
}

std::string adjoint_error(const Shape& expected, const Shape& g) {
  return "the samples are of shape " + to_string(expected) + ", their adjoint of " + to_string(g);
}

ShapeResult sum_shape(const Application& app) {
  ShapeResult x = shape_attribute(app);
  if (std::holds_alternative<std::string>(x)) return x;
  const ShapeResult y = sampled(std::get<Shape>(x), app.operand_shapes[1], app.attributes.subspan(1));
  if (std::holds_alternative<std::string>(y)) return y;
  if (std::get<Shape>(y) != app.operand_shapes[0]) return adjoint_error(std::get<Shape>(y), app.operand_shapes[0]);
  return x;
}

ShapeResult gradient_shape(const Application& app) {
  const ShapeResult y = sample_shape(app);
  if (std::holds_alternative<std::string>(y)) return y;
  if (std::get<Shape>(y) != app.operand_shapes[2]) return adjoint_error(std::get<Shape>(y), app.operand_shapes[2]);
  return app.operand_shapes[1];
}

std::vector<OperatorParameter> parameters(std::vector<OperatorParameter> list) {
  for (const OperatorParameter& p :
       {text_attribute("mode", "linear"), text_attribute("padding", "zeros"), integers("align_corners", "0")})
    list.push_back(p);
  return list;
}

}  // namespace

std::vector<OperatorInfo> grid_sample_operators() {
  constexpr std::string_view derivative = "none: `grid_sample`: it has no second derivative in its grid";
  return {
      kernel_row<rml_kernel_grid_sample>(
          "grid_sample", "rml_kernel_grid_sample", parameters({operand("x", real), operand("grid", real)}), same(real),
          sample_shape,
          {"sum_grid_sample(shape(x), dy, grid, mode=mode, padding=padding, align_corners=align_corners)",
           "grid_sample_gradient(x, grid, dy, mode=mode, padding=padding, align_corners=align_corners)"},
          {"GridSample",
           "x, of shape [batch, channels, two or three spatial axes], sampled at the points of the grid, of shape "
           "[batch, positions…, axes]. The first number of a point is its coordinate along the last axis. The "
           "coordinates -1 and 1 are the edges of x, or with align_corners=1 its outermost elements. The mode is "
           "\"linear\", \"nearest\" or \"cubic\", and the padding is \"zeros\", \"border\" or \"reflection\".",
           "grid_sample([[[[1.0, 3.0]]]], [[[[0.0, 0.0], [0.5, 0.0]]]]) -- [[[2,3]]]"}),
      kernel_row<rml_kernel_sum_grid_sample>(
          "sum_grid_sample", "rml_kernel_sum_grid_sample",
          parameters({integers("shape"), operand("g", real), operand("grid", real)}), same(real), sum_shape,
          {"grid_sample(dy, grid, mode=mode, padding=padding, align_corners=align_corners)",
           "grid_sample_gradient(dy, grid, g, mode=mode, padding=padding, align_corners=align_corners)"},
          {"",
           "The adjoint of grid_sample with respect to x, which has the given shape: each element of g is added, with "
           "its weights, to the elements from which it was sampled.",
           "sum_grid_sample([1, 1, 1, 2], [[[[4.0]]]], [[[[0.0, 0.0]]]]) -- [[[2,2]]]"}),
      kernel_row<rml_kernel_grid_sample_gradient>(
          "grid_sample_gradient", "rml_kernel_grid_sample_gradient",
          parameters({operand("x", real), operand("grid", real), operand("g", real)}), same(real), gradient_shape,
          {derivative, derivative, derivative},
          {"", "The adjoint of grid_sample(x, grid) with respect to the grid, where g is the adjoint of the samples.",
           "grid_sample_gradient([[[[1.0, 3.0]]]], [[[[0.0, 0.0]]]], [[[[1.0]]]], padding=\"border\") -- [[[2,0]]]"}),
  };
}

}  // namespace rml
