// Operators whose positions are known only at run time: gathers, scatters and dynamic slices.
//
// Indices may be negative and then count from the end. An index outside [-extent, extent) stops
// the run, with the index and the extent in the message. Starts of dynamic slices count from 0.
// There are three ways to give positions (runtime/kernels/places.h): `take` along one axis,
// `…_elements` with one index per element, `…_nd` with index tuples.
#include "runtime/kernels/gather.h"

#include "semantics/operators/definition.h"
#include "semantics/operators/indexing.h"

namespace rml {

namespace {

using dtypes::element, dtypes::index, dtypes::number, dtypes::real;

constexpr std::string_view integer_operand = "none: it is an integer";

std::string text_of(const Shape& a, const Shape& b) { return to_string(a) + " and " + to_string(b); }

// ---- take ------------------------------------------------------------------------------------

ShapeResult taken(const Shape& x, const Shape& i, const Attribute& axis) {
  if (!axis.given) return i;
  if (axis.integers.size() != 1) return "axis must be one integer, not " + to_string(axis.integers);
  const auto k = normalized_axis(axis.integers[0], x.size());
  if (!k) return axis_error(axis.integers[0], x.size());
  const auto at = static_cast<std::ptrdiff_t>(*k);
  Shape y(x.begin(), x.begin() + at);
  y.insert(y.end(), i.begin(), i.end());
  y.insert(y.end(), x.begin() + at + 1, x.end());
  return checked_shape(std::move(y));
}

ShapeResult take_shape(const Application& app) {
  return taken(app.operand_shapes[0], app.operand_shapes[1], app.attributes[0]);
}

ShapeResult sum_take_shape(const Application& app) {
  ShapeResult whole = shape_attribute(app);
  if (std::holds_alternative<std::string>(whole)) return whole;
  ShapeResult part = taken(std::get<Shape>(whole), app.operand_shapes[1], app.attributes[1]);
  if (std::holds_alternative<std::string>(part)) return part;
  if (std::get<Shape>(part) != app.operand_shapes[0])
    return "cannot sum " + to_string(app.operand_shapes[0]) + " where there is " + to_string(std::get<Shape>(part));
  return whole;
}

ShapeResult add_at_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &updates = app.operand_shapes[1];
  if (std::string error = flag_error(app.attributes[1], "from_end"); !error.empty()) return error;
  ShapeResult part = taken(x, app.operand_shapes[2], app.attributes[0]);
  if (std::holds_alternative<std::string>(part)) return part;
  if (std::get<Shape>(part) != updates)
    return "cannot add " + to_string(updates) + " where there is " + to_string(std::get<Shape>(part));
  return x;
}

// ---- one index per element -------------------------------------------------------------------

// The error if x and the indices differ in rank or the axis is wrong; else an empty string.
std::string elements_error(const Shape& x, const Shape& i, const Attribute& axis) {
  if (axis.integers.size() != 1) return "axis must be one integer, not " + to_string(axis.integers);
  if (x.size() != i.size()) return "a tensor and its indices must have the same rank, not " + text_of(x, i);
  if (!normalized_axis(axis.integers[0], x.size())) return axis_error(axis.integers[0], x.size());
  return {};
}

// The extents of the indices may be smaller than those of x; along the axis they may also be
// larger.
std::string fitting_error(const Shape& x, const Shape& i, std::size_t axis) {
  for (std::size_t k = 0; k < x.size(); ++k)
    if (k != axis && i[k] > x[k])
      return "indices of shape " + to_string(i) + " go beyond " + to_string(x) + " along axis " + std::to_string(k);
  return {};
}

ShapeResult gather_elements_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &i = app.operand_shapes[1];
  if (std::string error = elements_error(x, i, app.attributes[0]); !error.empty()) return error;
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], x.size());
  if (std::string error = fitting_error(x, i, axis); !error.empty()) return error;
  return i;
}

ShapeResult take_along_axis_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &i = app.operand_shapes[1];
  if (std::string error = elements_error(x, i, app.attributes[0]); !error.empty()) return error;
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], x.size());
  Shape y = x;
  y[axis] = i[axis];
  for (std::size_t k = 0; k < x.size(); ++k)
    if (k != axis && i[k] != x[k] && i[k] != 1)
      return "indices of shape " + to_string(i) + " do not broadcast to " + to_string(y);
  return checked_shape(std::move(y));
}

// ---- index tuples ----------------------------------------------------------------------------

ShapeResult gather_nd_result(const Shape& x, const Shape& i, const Attribute& batch_dims) {
  if (batch_dims.integers.size() != 1) return "batch_dims must be one integer, not " + to_string(batch_dims.integers);
  const std::int64_t batches = batch_dims.integers[0];
  if (i.empty()) return "index tuples are along the last axis of the indices, but the indices are a scalar";
  const auto rank = static_cast<std::int64_t>(std::min(x.size(), i.size() - 1));
  if (batches < 0 || batches > rank)
    return "batch_dims " + std::to_string(batches) + " for a tensor and indices of shapes " + text_of(x, i);
  const auto b = static_cast<std::size_t>(batches);
  for (std::size_t k = 0; k < b; ++k)
    if (x[k] != i[k])
      return "batches of a tensor and its indices differ along axis " + std::to_string(k) + ": " + text_of(x, i);
  if (i.back() > static_cast<std::int64_t>(x.size() - b))
    return "tuples of " + std::to_string(i.back()) + " indices for the " + std::to_string(x.size() - b) + " axes of " +
           to_string(x) + (b > 0 ? " after its batch axes" : "");
  Shape y(i.begin(), i.end() - 1);
  y.insert(y.end(), x.begin() + batches + i.back(), x.end());
  return checked_shape(std::move(y));
}

ShapeResult gather_nd_shape(const Application& app) {
  return gather_nd_result(app.operand_shapes[0], app.operand_shapes[1], app.attributes[0]);
}

// ---- scatter ---------------------------------------------------------------------------------

std::string reduction_error(const Application& app) {
  const std::string& name = app.attributes[1].text;
  for (const std::string_view known : {"none", "add", "mul", "min", "max"}) {
    if (name != known) continue;
    if (name != "none" && app.result_dtype == DType::boolean) return "Booleans have no reduction \"" + name + "\"";
    return {};
  }
  return "no reduction is called \"" + name + "\": none, add, mul, min and max are known";
}

std::string updates_error(const Shape& updates, const Shape& wanted) {
  return updates == wanted ? "" : "updates have the shape " + to_string(updates) + ", not " + to_string(wanted);
}

ShapeResult scatter_elements_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &i = app.operand_shapes[1];
  if (std::string error = reduction_error(app); !error.empty()) return error;
  if (std::string error = elements_error(x, i, app.attributes[0]); !error.empty()) return error;
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], x.size());
  if (std::string error = fitting_error(x, i, axis); !error.empty()) return error;
  if (std::string error = updates_error(app.operand_shapes[2], i); !error.empty()) return error;
  return x;
}

ShapeResult scatter_nd_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (std::string error = reduction_error(app); !error.empty()) return error;
  ShapeResult part = gather_nd_result(x, app.operand_shapes[1], app.attributes[0]);
  if (std::holds_alternative<std::string>(part)) return part;
  if (std::string error = updates_error(app.operand_shapes[2], std::get<Shape>(part)); !error.empty()) return error;
  return x;
}

// Attributes: places, reduction, by. The error in the operands of a scatter and its result r, or
// an empty string.
template <ShapeRule forward>
std::string scattered_error(const Application& app) {
  const ShapeResult y =
      forward({app.operand_dtypes, app.operand_shapes.first(3), app.attributes.first(2), app.result_dtype});
  if (const auto* error = std::get_if<std::string>(&y)) return *error;
  if (app.operand_shapes[3] != std::get<Shape>(y))
    return "the result has the shape " + to_string(std::get<Shape>(y)) + ", not " + to_string(app.operand_shapes[3]);
  const Attribute& by = app.attributes[2];
  if (by.integers.size() != 1 || by.integers[0] < 0 || by.integers[0] > 1)
    return "`by` is 0, by x, or 1, by the updates";
  return {};
}
const Shape& varied_shape(const Application& app) {
  return app.operand_shapes[app.attributes[2].integers[0] == 0 ? 0 : 2];
}

template <ShapeRule forward>
ShapeResult gradient_shape(const Application& app) {
  if (std::string error = scattered_error<forward>(app); !error.empty()) return error;
  if (app.operand_shapes[4] != app.operand_shapes[3])
    return "the adjoint has the shape " + to_string(app.operand_shapes[3]) + ", not " +
           to_string(app.operand_shapes[4]);
  return varied_shape(app);
}

template <ShapeRule forward>
ShapeResult tangent_shape(const Application& app) {
  if (std::string error = scattered_error<forward>(app); !error.empty()) return error;
  if (app.operand_shapes[4] != varied_shape(app))
    return "the variation has the shape " + to_string(varied_shape(app)) + ", not " + to_string(app.operand_shapes[4]);
  return app.operand_shapes[3];
}

ShapeResult curved_shape(const Application& app) {
  if (app.attributes[0].text == "mul") return "scattering by \"mul\" has no second derivative";
  return app.operand_shapes[0];
}

std::int64_t gradient_scratch(const Application& app) { return 16 * *element_count(app.operand_shapes[0]); }

// ---- slices ----------------------------------------------------------------------------------

// Starts give positions along the leading axes; the remaining axes are those of x.
std::string starts_error(const Shape& x, const Shape& starts, const Shape& part, const std::string& what) {
  if (starts.size() != 1 || starts[0] > static_cast<std::int64_t>(x.size()))
    return "starts are a vector of at most " + std::to_string(x.size()) + " for " + to_string(x) + ", not " +
           to_string(starts);
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (part[k] == x[k]) continue;
    if (part[k] < 0 || part[k] > x[k] || static_cast<std::int64_t>(k) >= starts[0])
      return what + to_string(part) + " is not a part of " + to_string(x) + " along axis " + std::to_string(k);
  }
  return {};
}

ShapeResult dynamic_slice_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &starts = app.operand_shapes[1], &sizes = app.attributes[0].integers;
  if (starts.size() != 1 || sizes.size() != static_cast<std::size_t>(starts[0]) || sizes.size() > x.size())
    return "starts " + to_string(starts) + " and sizes " + to_string(sizes) + " for a tensor of shape " + to_string(x);
  Shape y = x;
  for (std::size_t k = 0; k < sizes.size(); ++k) y[k] = sizes[k];
  if (std::string error = starts_error(x, starts, y, "a slice of shape "); !error.empty()) return error;
  return y;
}

ShapeResult dynamic_update_slice_shape(const Application& app) {
  const Shape &x = app.operand_shapes[0], &updates = app.operand_shapes[1];
  if (updates.size() != x.size())
    return "a tensor and its new part must have the same rank, not " + text_of(x, updates);
  if (std::string error = starts_error(x, app.operand_shapes[2], updates, "a new part, "); !error.empty()) return error;
  return x;
}

// ---- rows ------------------------------------------------------------------------------------

OperatorInfo in_place(OperatorInfo row) {
  row.in_place = true;
  return row;
}

std::vector<OperatorInfo> gather_rows() {
  return {
      kernel_row<rml_kernel_take>("take", "rml_kernel_take",
                                  {operand("x", element), operand("i", index, 1), integers("axis", "all")},
                                  same(element), take_shape, {"sum_take(shape(x), dy, i, axis=axis)", integer_operand},
                                  {"Gather",
                                   "The elements of x at the indices i along the axis; the axes of i replace this "
                                   "axis. Without axis, the indices count all elements in row-major order.",
                                   "take([[1, 2], [3, 4]], [1, -1, 0], axis=1) -- [2,2,1;4,4,3]"}),
      kernel_row<rml_kernel_sum_take>(
          "sum_take", "rml_kernel_sum_take",
          {integers("shape"), operand("x", number), operand("i", index, 1), integers("axis", "all")}, same(number),
          sum_take_shape, {"take(dy, i, axis=axis)", integer_operand},
          {"", "The adjoint of take: zeros of the given shape, to which the elements of x are added at the indices.",
           "sum_take([3], [1, 2, 4], [0, 2, 2]) -- [1,0,6]"}),
      in_place(
          kernel_row<rml_kernel_add_at>("add_at", "rml_kernel_add_at",
                                        {operand("x", number), operand("updates", number), operand("i", index, 1),
                                         integers("axis", "all"), integers("from_end", "1")},
                                        same(number), add_at_shape, {"dy", "take(dy, i, axis=axis)", integer_operand},
                                        {"",
                                         "x with the updates added, one after the other, to the elements that take(x, "
                                         "i) would read. With from_end=0, a negative index stops the run. Training "
                                         "uses this operator if it updates only a few rows of a table at a time.",
                                         "add_at([1, 2, 3], [10, 20, 30], [0, 2, 2]) -- [11,2,53]"})),
      kernel_row<rml_kernel_gather_elements>(
          "gather_elements", "rml_kernel_gather_elements",
          {operand("x", element), operand("i", index, 1), integers("axis", "-1")}, same(element), gather_elements_shape,
          {"scatter_elements(zeros_like(x), i, dy, axis=axis, reduction=\"add\")", integer_operand},
          {"GatherElements",
           "For each index in i, the element of x at the same position, with the index in place of the position along "
           "the axis. The result has the shape of i, whose other extents must not exceed those of x.",
           "gather_elements([[1, 2], [3, 4]], [[1, 0]], 0) -- [3,2]"}),
      kernel_row<rml_kernel_take_along_axis>(
          "take_along_axis", "rml_kernel_take_along_axis",
          {operand("x", element), operand("i", index, 1), integers("axis", "-1")}, same(element), take_along_axis_shape,
          {"scatter_elements(zeros_like(x), broadcast_to(i, shape(dy)), dy, axis=axis, reduction=\"add\")",
           integer_operand},
          {"", "As gather_elements, but i broadcasts to the shape of x along all other axes.",
           "take_along_axis([[1, 2], [3, 4]], [[1]]) -- [2;4]"}),
      kernel_row<rml_kernel_gather_nd>(
          "gather_nd", "rml_kernel_gather_nd",
          {operand("x", element), operand("i", index, 1), integers("batch_dims", "0")}, same(element), gather_nd_shape,
          {"scatter_nd(zeros_like(x), i, dy, batch_dims=batch_dims, reduction=\"add\")", integer_operand},
          {"GatherND",
           "x[i[…, 0], i[…, 1], …]: the last axis of i contains indices of the leading axes of x. The first batch_dims "
           "axes of x and i are batches; the indices are those of the axes after them.",
           "gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]) -- [2,3]"}),
  };
}

std::vector<OperatorInfo> scatter_rows() {
  // A reduction computes with the elements, which f16 and bf16 do not support.
  constexpr DTypeSet computed = dtypes::boolean | number;
  const auto parameters = [](OperatorParameter places) {
    return std::vector<OperatorParameter>{operand("x", computed), operand("i", index, 1), operand("updates", computed),
                                          places, text_attribute("reduction", "none")};
  };
  return {
      in_place(kernel_row<rml_kernel_scatter_elements>(
          "scatter_elements", "rml_kernel_scatter_elements", parameters(integers("axis", "-1")), same(computed),
          scatter_elements_shape,
          {"scatter_elements_gradient(x, i, updates, y, dy, axis=axis, reduction=reduction, by=0)", integer_operand,
           "scatter_elements_gradient(x, i, updates, y, dy, axis=axis, reduction=reduction, by=1)"},
          {"ScatterElements",
           "x with the updates at the positions that gather_elements would read, one after the other. An update "
           "replaces the element, or is combined with it by the reduction \"add\", \"mul\", \"min\" or \"max\".",
           "scatter_elements([1, 2, 3], [0, 0], [5, 6], reduction=\"add\") -- [12,2,3]"})),
      in_place(kernel_row<rml_kernel_scatter_nd>(
          "scatter_nd", "rml_kernel_scatter_nd", parameters(integers("batch_dims", "0")), same(computed),
          scatter_nd_shape,
          {"scatter_nd_gradient(x, i, updates, y, dy, batch_dims=batch_dims, reduction=reduction, by=0)",
           integer_operand,
           "scatter_nd_gradient(x, i, updates, y, dy, batch_dims=batch_dims, reduction=reduction, by=1)"},
          {"ScatterND",
           "x with the updates at the positions that gather_nd would read, combined as in scatter_elements.",
           "scatter_nd([1, 2, 3], [[2], [0]], [5, 6]) -- [6,2,5]"})),
  };
}

// `last` is the adjoint of the result r, or the tangent of x or of the updates.
std::vector<OperatorParameter> scatter_derivative(OperatorParameter places, std::string_view last) {
  return {operand("x", real),
          operand("i", index, 1),
          operand("updates", real),
          operand("r", real),
          operand(last, real),
          places,
          text_attribute("reduction", "none"),
          integers("by")};
}

// Gradient and tangent are linear in the last operand. Their derivatives by x and the updates are
// 0, unless the reduction multiplies.
constexpr std::string_view by_x = "scatter_curvature(x, reduction=reduction)",
                           by_updates = "scatter_curvature(updates, reduction=reduction)",
                           of_ties = "none: only its ties are read";

std::vector<OperatorInfo> scatter_gradient_rows() {
  return {
      kernel_row<rml_kernel_scatter_elements_gradient, gradient_scratch>(
          "scatter_elements_gradient", "rml_kernel_scatter_elements_gradient",
          scatter_derivative(integers("axis", "-1"), "g"), same(real), gradient_shape<scatter_elements_shape>,
          {by_x, integer_operand, by_updates, of_ties,
           "scatter_elements_tangent(x, i, updates, r, dy, axis=axis, reduction=reduction, by=by)"},
          {"",
           "The gradient of r = scatter_elements(x, i, updates) with respect to x (by=0) or to the updates (by=1), "
           "where g is the adjoint of r. Without a reduction, the last of several updates of an element gets it. If "
           "the reduction is a minimum or maximum, all operands that are equal to the result share it.",
           "scatter_elements_gradient([1.0, 2.0], [0, 0], [5.0, 6.0], [6.0, 2.0], [1.0, 1.0], by=1) -- [0,1]"}),
      kernel_row<rml_kernel_scatter_nd_gradient, gradient_scratch>(
          "scatter_nd_gradient", "rml_kernel_scatter_nd_gradient", scatter_derivative(integers("batch_dims", "0"), "g"),
          same(real), gradient_shape<scatter_nd_shape>,
          {by_x, integer_operand, by_updates, of_ties,
           "scatter_nd_tangent(x, i, updates, r, dy, batch_dims=batch_dims, reduction=reduction, by=by)"},
          {"", "The gradient of r = scatter_nd(x, i, updates), as in scatter_elements_gradient.",
           "scatter_nd_gradient([1.0, 2.0], [[0]], [5.0], [5.0, 2.0], [1.0, 1.0], by=0) -- [0,1]"}),
      defined<"scatter_elements_tangent">(
          scatter_derivative(integers("axis", "-1"), "h"), same(real), tangent_shape<scatter_elements_shape>,
          [](const Application& app) -> std::string_view {
            if (app.attributes[2].integers[0] == 0)
              return "scatter_elements_gradient(x, i, updates, r, h, axis=axis, reduction=reduction, by=0)";
            return "scatter_elements(zeros_like(r), i, select(scatter_elements_gradient(x, i, updates, r, "
                   "ones_like(r), axis=axis, reduction=reduction, by=1) == 0.0, zeros_like(h), h * "
                   "scatter_elements_gradient(x, i, updates, r, ones_like(r), axis=axis, reduction=reduction, by=1)), "
                   "axis=axis, reduction=\"add\")";
          },
          {of_ties, integer_operand, of_ties, of_ties,
           "scatter_elements_gradient(x, i, updates, r, dy, axis=axis, reduction=reduction, by=by)"},
          {"",
           "The change of r = scatter_elements(x, i, updates) if x (by=0) or the updates (by=1) change by h, to first "
           "order. It is the adjoint of scatter_elements_gradient with respect to g.",
           "scatter_elements_tangent([1.0, 2.0], [0, 0], [5.0, 6.0], [6.0, 2.0], [3.0, 4.0], by=1) -- [4,0]"}),
      defined<"scatter_nd_tangent">(
          scatter_derivative(integers("batch_dims", "0"), "h"), same(real), tangent_shape<scatter_nd_shape>,
          [](const Application& app) -> std::string_view {
            if (app.attributes[2].integers[0] == 0)
              return "scatter_nd_gradient(x, i, updates, r, h, batch_dims=batch_dims, reduction=reduction, by=0)";
            return "scatter_nd(zeros_like(r), i, select(scatter_nd_gradient(x, i, updates, r, ones_like(r), "
                   "batch_dims=batch_dims, reduction=reduction, by=1) == 0.0, zeros_like(h), h * "
                   "scatter_nd_gradient(x, i, updates, r, ones_like(r), batch_dims=batch_dims, reduction=reduction, "
                   "by=1)), batch_dims=batch_dims, reduction=\"add\")";
          },
          {of_ties, integer_operand, of_ties, of_ties,
           "scatter_nd_gradient(x, i, updates, r, dy, batch_dims=batch_dims, reduction=reduction, by=by)"},
          {"", "The change of r = scatter_nd(x, i, updates), as in scatter_elements_tangent.",
           "scatter_nd_tangent([1.0, 2.0], [[0]], [5.0], [5.0, 2.0], [3.0, 4.0], by=0) -- [0,4]"}),
      defined<"scatter_curvature">(
          {operand("x", real), text_attribute("reduction", "none")}, same(real), curved_shape,
          [](const Application&) -> std::string_view { return "zeros_like(x)"; }, {"none: only its shape is read"},
          {"",
           "Zeros of the shape of x: the derivative of the gradient of a scatter with respect to its operands. With "
           "the reduction \"mul\" it would not be zero; it is not implemented and is refused.",
           "scatter_curvature([1.0, 2.0]) -- [0,0]"}),
  };
}

std::vector<OperatorInfo> slice_rows() {
  return {
      kernel_row<rml_kernel_dynamic_slice>(
          "dynamic_slice", "rml_kernel_dynamic_slice",
          {operand("x", element), operand("starts", index, 1), integers("sizes")}, same(element), dynamic_slice_shape,
          {"dynamic_update_slice(zeros_like(x), dy, starts)", integer_operand},
          {"",
           "The part of x that begins at starts and has the given sizes along the leading axes. starts is a vector "
           "that may change from cycle to cycle. A start that is negative, or so large that the part does not fit, "
           "stops the run.",
           "dynamic_slice([1, 2, 3, 4], [1], [2]) -- [2,3]"}),
      in_place(kernel_row<rml_kernel_dynamic_update_slice>(
          "dynamic_update_slice", "rml_kernel_dynamic_update_slice",
          {operand("x", element), operand("updates", element), operand("starts", index, 1)}, same(element),
          dynamic_update_slice_shape,
          {"dynamic_update_slice(dy, zeros_like(updates), starts)",
           "dynamic_slice(dy, starts, sizes=slice(shape(updates), stops=shape(starts)))", integer_operand},
          {"", "x with the updates in place of the elements that dynamic_slice would read.",
           "dynamic_update_slice([1, 2, 3], [8, 9], [0]) -- [8,9,3]"})),
  };
}

}  // namespace

std::vector<OperatorInfo> gather_operators() {
  std::vector<OperatorInfo> rows;
  for (const auto part : {gather_rows, scatter_rows, scatter_gradient_rows, slice_rows})
    for (OperatorInfo& info : part()) {
      info.can_fail = true;
      rows.push_back(std::move(info));
    }
  return rows;
}

}  // namespace rml
