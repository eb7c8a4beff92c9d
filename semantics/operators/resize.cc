// Resizing along an axis, as in ONNX; several axes are resized one after the other.
//
// Both rows are linear in their operand, and each is the gradient of the other.
// runtime/kernels/resize.cc evaluates them; sampling.h there explains the attributes.
#include "runtime/kernels/resize.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/sampling.h"
#include "semantics/operators/resampling.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::number, dtypes::real;
using Attributes = std::span<const Attribute>;

template <std::size_t N>
std::string name_error(std::string_view what, const std::string_view (&names)[N], const std::string& given) {
  if (std::ranges::find(names, given) != names + N) return {};
  std::string text = "no " + std::string(what) + " called \"" + given + "\": there are ";
  for (std::size_t k = 0; k < N; ++k) text += (k == 0 ? "" : k + 1 < N ? ", " : " and ") + std::string(names[k]);
  return text;
}

// Attributes: axis, size, mode, coordinates, scale, start, end, cubic, antialias,
// exclude_outside, value.
std::string attributes_error(const Shape& x, Attributes a) {
  for (const std::size_t k : {0, 1})
    if (a[k].integers.size() != 1)
      return std::string(k == 0 ? "axis" : "size") + " must be one integer, not " + to_string(a[k].integers);
  for (const std::string& error : {flag_error(a[8], "antialias"), flag_error(a[9], "exclude_outside")})
    if (!error.empty()) return error;
  if (!normalized_axis(a[0].integers[0], x.size())) return axis_error(a[0].integers[0], x.size());
  if (a[1].integers[0] < 0) return "size " + std::to_string(a[1].integers[0]) + " is negative";
  if (std::string error = name_error("mode of resizing is", sampling::modes, a[2].text); !error.empty()) return error;
  if (std::string error = name_error("coordinates are", sampling::coordinates, a[3].text); !error.empty()) return error;
  if (!(a[4].number >= 0) || std::isinf(a[4].number))
    return "scale " + std::to_string(a[4].number) + " must be positive, or 0";
  for (const std::size_t k : {5, 6, 7})
    if (!std::isfinite(a[k].number)) return "start, end and cubic are numbers, neither infinite nor NaN";
  return {};
}

// The reason for which `from` elements along an axis cannot become `to`, or not at this scale;
// else empty.
std::string extents_error(const Shape& x, std::size_t axis, std::int64_t from, std::int64_t to, double scale) {
  const std::string along = " along axis " + std::to_string(axis) + " of " + to_string(x);
  if (from == 0 && to > 0) return "no elements to make " + std::to_string(to) + " of" + along;
  if (sampling::Axis{.from = from, .to = to, .scale = scale}.fits()) return {};
  return "scale " + std::to_string(scale) + " does not make " + std::to_string(to) + " elements of " +
         std::to_string(from) + along;
}

ShapeResult resize_shape(const Application& app) {
  Shape x = app.operand_shapes[0];
  if (std::string error = attributes_error(x, app.attributes); !error.empty()) return error;
  if (!is_float(app.result_dtype) && !app.attributes[2].text.starts_with("nearest"))
    return "integers are resized by nearest elements only, not by mode \"" + app.attributes[2].text + "\"";
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], x.size());
  const std::int64_t to = app.attributes[1].integers[0];
  if (std::string error = extents_error(x, axis, x[axis], to, app.attributes[4].number); !error.empty()) return error;
  x[axis] = to;
  return checked_shape(std::move(x));
}

ShapeResult sum_resize_shape(const Application& app) {
  Shape g = app.operand_shapes[0];
  if (std::string error = attributes_error(g, app.attributes); !error.empty()) return error;
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], g.size());
  const std::int64_t from = app.attributes[1].integers[0], to = g[axis];
  g[axis] = from;
  if (std::string error = extents_error(app.operand_shapes[0], axis, from, to, app.attributes[4].number);
      !error.empty())
    return error;
  return checked_shape(std::move(g));
}

std::vector<OperatorParameter> parameters(OperatorParameter first) {
  return {first,
          integers("axis"),
          integers("size"),
          text_attribute("mode", "linear"),
          text_attribute("coordinates", "half_pixel"),
          number_attribute("scale", "0"),
          number_attribute("start", "0"),
          number_attribute("end", "1"),
          number_attribute("cubic", "-0.75"),
          integers("antialias", "0"),
          integers("exclude_outside", "0"),
          number_attribute("value", "0")};
}

}  // namespace

std::vector<OperatorInfo> resize_operators() {
  return {
      kernel_row<rml_kernel_resize>(
          "resize", "rml_kernel_resize", parameters(operand("x", number)), same(number), resize_shape,
          {"sum_resize(dy, axis=axis, size=size(x, axis=axis), mode=mode, coordinates=coordinates, scale=scale, "
           "start=start, end=end, cubic=cubic, antialias=antialias, exclude_outside=exclude_outside)"},
          {"Resize",
           "x with `size` elements along the axis, by the rules of ONNX. The mode is \"linear\", \"cubic\" (with the "
           "coefficient `cubic`) or \"nearest\" (of two equally near elements, the first), \"nearest_round_up\", "
           "\"nearest_floor\", \"nearest_ceil\". The coordinates are \"half_pixel\", \"half_pixel_symmetric\", "
           "\"pytorch_half_pixel\", \"align_corners\", \"asymmetric\" or \"crop\" (from `start` to `end`, with `value` "
           "outside x). A scale that is not 0 replaces the ratio of the extents.",
           "resize([0.0, 4.0], 0, 4) -- [0,1,3,4]"}),
      kernel_row<rml_kernel_sum_resize>(
          "sum_resize", "rml_kernel_sum_resize", parameters(operand("g", real)), same(real), sum_resize_shape,
          {"resize(dy, axis=axis, size=size(g, axis=axis), mode=mode, coordinates=coordinates, scale=scale, "
           "start=start, end=end, cubic=cubic, antialias=antialias, exclude_outside=exclude_outside)"},
          {"",
           "The adjoint of resize, with `size` elements along the axis: each element of g is added, with its weights, "
           "to the elements from which resize would compute it.",
           "sum_resize([1.0, 2.0, 3.0, 4.0], 0, 2, mode=\"nearest\") -- [3,7]"}),
  };
}

}  // namespace rml
