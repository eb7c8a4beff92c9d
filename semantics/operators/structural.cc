// Operators that move elements without computing on them.
//
// All kernels are strided copies. geometry.cc interprets axis lists, permutations and slice
// bounds. Bounds and steps of a slice are static; bounds may be negative (from the end) and must
// be within the extent. The indices of `index` are streams: they count from 0, and an index
// outside [0, extent) stops the run, negative ones included.
#include "runtime/base/rmlrt.h"
#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using dtypes::element, dtypes::index;
using kernels::Strides, kernels::copy_strided, kernels::dense_strides, kernels::broadcast_strides;

Fault copy(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  if (result.bytes() > 0) std::memcpy(result.data(), in[0]->data(), result.bytes());
  return {};
}

// ---- transpose, reshape, expand_dims, squeeze ---------------------------------------------

ShapeResult transpose_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const Attribute& axes = app.attributes[0];
  if (std::string error = flag_error(app.attributes[1], "inverse"); !error.empty()) return error;
  if (axes.given) {
    const std::size_t count = axes.integers.size();
    if (count > x.size()) return std::to_string(count) + " axes for a tensor of rank " + std::to_string(x.size());
    std::vector<bool> seen(x.size(), false);
    for (const std::int64_t axis : axes.integers) {
      const auto k = normalized_axis(axis, x.size());
      if (!k) return axis_error(axis, x.size());
      if (seen[*k]) return axes_error(axes, x.size());
      if (*k < x.size() - count || (count < x.size() && axis >= 0)) {
        return "axes " + to_string(axes.integers) + " do not permute the last axes of a tensor of rank " +
               std::to_string(x.size()) + " (fewer axes than the rank are counted from the end: -1, -2, …)";
      }
      seen[*k] = true;
    }
  }
  const std::vector<std::size_t> order = transposed_axes(app);
  Shape shape(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) shape[k] = x[order[k]];
  return shape;
}

Fault evaluate_transpose(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  const std::vector<std::size_t> order = transposed_axes(app);
  const Strides dense = dense_strides(in[0]->shape());
  Strides from{};
  for (std::size_t k = 0; k < order.size(); ++k) from[k] = dense[order[k]];
  copy_strided(result.shape(), result, 0, dense_strides(result.shape()), *in[0], 0, from);
  return {};
}

ShapeResult reshape_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  std::vector<std::int64_t> extents = app.attributes[0].integers;
  std::int64_t known = 1;
  std::size_t inferred = extents.size();
  const std::int64_t elements = *element_count(x);
  for (std::size_t k = 0; k < extents.size(); ++k) {
    if (extents[k] == -1) {
      if (inferred != extents.size()) return "shape " + to_string(extents) + " leaves more than one extent open";
      inferred = k;
    } else if (__builtin_mul_overflow(known, extents[k], &known)) {
      return checked_shape(extents);
    }
  }
  if (inferred != extents.size()) {
    if (known <= 0 || elements % known != 0) return "cannot reshape " + to_string(x) + " to " + to_string(extents);
    extents[inferred] = elements / known;
  }
  ShapeResult shape = checked_shape(extents);
  if (const auto* made = std::get_if<Shape>(&shape); made && *element_count(*made) != elements) {
    return "cannot reshape " + to_string(x) + " to " + to_string(*made) + ": " + std::to_string(elements) + " and " +
           std::to_string(*element_count(*made)) + " elements";
  }
  return shape;
}

ShapeResult expand_dims_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const Attribute& axis = app.attributes[0];
  const std::size_t rank = x.size() + axis.integers.size();
  std::vector<bool> fresh(rank, false);
  for (const std::int64_t a : axis.integers) {
    const auto k = normalized_axis(a, rank);
    if (!k || fresh[*k]) return axes_error(axis, rank);
    fresh[*k] = true;
  }
  Shape shape;
  std::size_t next = 0;
  for (std::size_t k = 0; k < rank; ++k) shape.push_back(fresh[k] ? 1 : x[next++]);
  return checked_shape(std::move(shape));
}

ShapeResult squeeze_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const Attribute& axis = app.attributes[0];
  const auto dropped = reduced_axes(axis, x.size());
  if (!dropped) return axes_error(axis, x.size());
  Shape shape;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!(*dropped)[k] || (!axis.given && x[k] != 1)) {
      shape.push_back(x[k]);
    } else if (x[k] != 1) {
      return "axis " + std::to_string(k) + " of " + to_string(x) + " has extent " + std::to_string(x[k]) + ", not 1";
    }
  }
  return shape;
}

// ---- concat, array -------------------------------------------------------------------------

ShapeResult concat_shape(const Application& app) {
  Shape shape = app.operand_shapes[0];
  const std::int64_t written = app.attributes[0].integers[0];
  const auto axis = normalized_axis(written, shape.size());
  if (shape.empty()) return "concat takes vectors or tensors, not scalars: write [a, b]";
  if (!axis) return axis_error(written, shape.size());
  for (const Shape& x : app.operand_shapes.subspan(1)) {
    Shape expected = x;
    if (x.size() == shape.size()) expected[*axis] = shape[*axis];
    if (expected != shape) {
      return "cannot concatenate " + to_string(app.operand_shapes[0]) + " and " + to_string(x) + " along axis " +
             std::to_string(written);
    }
    shape[*axis] += x[*axis];
    if (!element_count(shape)) break;
  }
  return checked_shape(std::move(shape));
}

Fault evaluate_concat(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  const std::size_t axis = *normalized_axis(app.attributes[0].integers[0], result.shape().size());
  const Strides to = dense_strides(result.shape());
  std::int64_t begin = 0;
  for (const Tensor* x : in) {
    copy_strided(x->shape(), result, begin * to[axis], to, *x, 0, dense_strides(x->shape()));
    begin += x->shape()[axis];
  }
  return {};
}

ShapeResult part_starts_shape(const Application& app) {
  const ShapeResult whole =
      concat_shape({app.operand_dtypes, app.operand_shapes, app.attributes.subspan(1), DType::i32});
  if (std::holds_alternative<std::string>(whole)) return whole;
  if (app.attributes[0].integers.size() != 1) return "part must be one integer";
  const std::int64_t part = app.attributes[0].integers[0];
  if (part < 0 || part >= static_cast<std::int64_t>(app.operand_shapes.size())) {
    return "part " + std::to_string(part) + " of " + std::to_string(app.operand_shapes.size());
  }
  return Shape{static_cast<std::int64_t>(app.operand_shapes[0].size())};
}

Fault evaluate_part_starts(const Application& app, const EvaluationContext&, Operands, Tensor& result) {
  const auto part = static_cast<std::size_t>(app.attributes[0].integers[0]);
  const std::size_t axis = *normalized_axis(app.attributes[1].integers[0], app.operand_shapes[0].size());
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < part; ++k) begin += app.operand_shapes[k][axis];
  for (std::size_t k = 0; k < app.operand_shapes[0].size(); ++k) {
    result.as<std::int32_t>()[k] = k == axis ? static_cast<std::int32_t>(begin) : 0;
  }
  return {};
}

ShapeResult array_shape(const Application& app) {
  Shape shape = app.operand_shapes[0];
  for (const Shape& x : app.operand_shapes) {
    if (x != shape) return "elements of an array have shapes " + to_string(shape) + " and " + to_string(x);
  }
  shape.insert(shape.begin(), static_cast<std::int64_t>(app.operand_shapes.size()));
  return checked_shape(std::move(shape));
}

Fault evaluate_array(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  auto* out = static_cast<std::byte*>(result.data());
  for (const Tensor* x : in) {
    if (x->bytes() > 0) std::memcpy(out, x->data(), x->bytes());
    out += x->bytes();
  }
  return {};
}

// ---- index, place ---------------------------------------------------------------------------

std::string index_error(const Application& app, const Shape& whole) {
  const std::size_t count = app.operand_shapes.size() - 1;
  for (std::size_t k = 1; k <= count; ++k) {
    if (!app.operand_shapes[k].empty())
      return "an index must be a scalar, not of shape " + to_string(app.operand_shapes[k]);
  }
  if (count > whole.size())
    return std::to_string(count) + " indices for a tensor of rank " + std::to_string(whole.size());
  return {};
}

ShapeResult index_shape(const Application& app) {
  const Shape& whole = app.operand_shapes[0];
  if (std::string error = index_error(app, whole); !error.empty()) return error;
  return Shape(whole.begin() + static_cast<std::ptrdiff_t>(app.operand_shapes.size() - 1), whole.end());
}

// The offset, in elements, of whole[i, j, …]; a fault if an index is out of range.
Fault index_offset(const Shape& whole, Operands indices, std::int64_t& offset) {
  const Strides strides = dense_strides(whole);
  offset = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::int64_t at = indices[k]->integers()[0];
    if (at < 0 || at >= whole[k]) return {RML_FAULT_INDEX, at, whole[k]};
    offset += at * strides[k];
  }
  return {};
}

Fault evaluate_index(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  std::int64_t offset = 0;
  if (const Fault fault = index_offset(in[0]->shape(), in.subspan(1), offset); fault.kind != 0) return fault;
  if (result.bytes() > 0) {
    const auto* from =
        static_cast<const std::byte*>(in[0]->data()) + offset * static_cast<std::int64_t>(byte_size(result.dtype()));
    std::memcpy(result.data(), from, result.bytes());
  }
  return {};
}

ShapeResult place_shape(const Application& app) {
  ShapeResult whole = shape_attribute(app);
  if (std::holds_alternative<std::string>(whole)) return whole;
  const Shape& shape = std::get<Shape>(whole);
  if (std::string error = index_error(app, shape); !error.empty()) return error;
  const Shape part(shape.begin() + static_cast<std::ptrdiff_t>(app.operand_shapes.size() - 1), shape.end());
  if (part != app.operand_shapes[0]) {
    return "cannot place " + to_string(app.operand_shapes[0]) + " where there is " + to_string(part);
  }
  return whole;
}

Fault evaluate_place(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  if (result.bytes() > 0) std::memset(result.data(), 0, result.bytes());
  std::int64_t offset = 0;
  if (const Fault fault = index_offset(result.shape(), in.subspan(1), offset); fault.kind != 0) return fault;
  if (in[0]->bytes() > 0) {
    auto* to = static_cast<std::byte*>(result.data()) + offset * static_cast<std::int64_t>(byte_size(result.dtype()));
    std::memcpy(to, in[0]->data(), in[0]->bytes());
  }
  return {};
}

// ---- slice, place_slice ---------------------------------------------------------------------

ShapeResult sliced(const Shape& whole, std::span<const Attribute> bounds) {
  const auto ranges = slice_ranges(whole, bounds);
  if (const auto* error = std::get_if<std::string>(&ranges)) return *error;
  Shape shape;
  for (const SliceRange& range : std::get<0>(ranges)) shape.push_back(range.count);
  return shape;
}

ShapeResult slice_shape(const Application& app) { return sliced(app.operand_shapes[0], app.attributes); }

// Computes the offset and the strides of the sliced elements within the whole tensor.
void sliced_place(const Shape& whole, std::span<const Attribute> bounds, std::int64_t& offset, Strides& strides) {
  const auto ranges = std::get<0>(slice_ranges(whole, bounds));
  strides = dense_strides(whole);
  offset = 0;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    offset += ranges[axis].start * strides[axis];
    strides[axis] *= ranges[axis].step;
  }
}

Fault evaluate_slice(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  if (result.elements() == 0) return {};
  std::int64_t offset = 0;
  Strides from{};
  sliced_place(in[0]->shape(), app.attributes, offset, from);
  copy_strided(result.shape(), result, 0, dense_strides(result.shape()), *in[0], offset, from);
  return {};
}

ShapeResult place_slice_shape(const Application& app) {
  ShapeResult whole = shape_attribute(app);
  if (std::holds_alternative<std::string>(whole)) return whole;
  ShapeResult part = sliced(std::get<Shape>(whole), app.attributes.subspan(1));
  if (std::holds_alternative<std::string>(part)) return part;
  if (std::get<Shape>(part) != app.operand_shapes[0]) {
    return "cannot place " + to_string(app.operand_shapes[0]) + " where there is " + to_string(std::get<Shape>(part));
  }
  return whole;
}

Fault evaluate_place_slice(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  if (result.bytes() > 0) std::memset(result.data(), 0, result.bytes());
  if (in[0]->elements() == 0) return {};
  std::int64_t offset = 0;
  Strides to{};
  sliced_place(result.shape(), app.attributes.subspan(1), offset, to);
  copy_strided(in[0]->shape(), result, offset, to, *in[0], 0, dense_strides(in[0]->shape()));
  return {};
}

// ---- broadcast_to ---------------------------------------------------------------------------

ShapeResult broadcast_to_shape(const Application& app) {
  ShapeResult whole = shape_attribute(app);
  if (std::holds_alternative<std::string>(whole)) return whole;
  const Shape &x = app.operand_shapes[0], &shape = std::get<Shape>(whole);
  if (broadcast(x, shape) != shape) return "cannot broadcast " + to_string(x) + " to " + to_string(shape);
  return whole;
}

Fault evaluate_broadcast(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = result.shape();
  copy_strided(shape, result, 0, dense_strides(shape), *in[0], 0, broadcast_strides(in[0]->shape(), shape));
  return {};
}

constexpr std::string_view integer_operand = "none: it is an integer";
constexpr std::string_view shape_only = "none: only its shape is read";

std::vector<OperatorInfo> shape_rows() {
  return {
      row("transpose", {operand("x", element), integers("axes", "all"), integers("inverse", "0")}, same(element),
          transpose_shape, evaluate_transpose, Lowering::transpose, {"transpose(dy, axes=axes, inverse=1 - inverse)"},
          {"Transpose",
           "x with its axes permuted: axis k of the result is axis axes[k] of x. Without axes, the order of all axes "
           "is reversed. If axes has fewer numbers than x has axes, the numbers count from the end and permute the "
           "last axes: [-1, -2] swaps the last two. inverse=1 applies the inverse permutation.",
           "transpose([[1, 2], [3, 4]]) -- [1,3;2,4]"}),
      row("reshape", {integers("shape"), operand("x", element)}, same(element), reshape_shape, copy, Lowering::reshape,
          {"reshape(shape(x), dy)"},
          {"Reshape",
           "The elements of x, in row-major order, in another shape. One extent may be -1; it is computed from the "
           "others.",
           "reshape([2, -1], [1, 2, 3, 4, 5, 6]) -- [1,2,3;4,5,6]"}),
      row("expand_dims", {operand("x", element), integers("axis")}, same(element), expand_dims_shape, copy,
          Lowering::reshape, {"reshape(shape(x), dy)"},
          {"Unsqueeze", "x with new axes of extent 1 at the given positions of the result.",
           "expand_dims([1, 2], 1) -- [1;2]"}),
      row("squeeze", {operand("x", element), integers("axis", "all")}, same(element), squeeze_shape, copy,
          Lowering::reshape, {"reshape(shape(x), dy)"},
          {"Squeeze",
           "x without the given axes, which must have extent 1. Without axis, all axes of extent 1 are removed.",
           "squeeze([[1, 2]]) -- [1,2]"}),
      row("broadcast_to", {operand("x", element), integers("shape")}, same(element), broadcast_to_shape,
          evaluate_broadcast, Lowering::broadcast, {"sum_to(dy, shape(x))"},
          {"Expand", "x repeated to fill the shape, by the broadcasting rule of NumPy.",
           "broadcast_to([1, 2], [2, 2]) -- [1,2;1,2]"}),
  };
}

std::vector<OperatorInfo> assembly_rows() {
  std::vector<OperatorInfo> rows = {
      row("concat", {variadic("x", element), integers("axis", "0")}, same(element), concat_shape, evaluate_concat,
          Lowering::concat,
          {"slice(dy, starts=part_starts(x..., part=part, axis=axis), "
           "stops=part_starts(x..., part=part, axis=axis) + shape(x))"},
          {"Concat", "The tensors joined along an axis; their other extents must be equal.",
           "concat([1, 2], [3]) -- [1,2,3]"}),
      row("part_starts", {variadic("x", element), integers("part"), integers("axis", "0")}, exactly(DType::i32),
          part_starts_shape, evaluate_part_starts, Lowering::folded, {shape_only},
          {"", "The index at which operand number `part` begins in concat(x, …, axis), as a constant vector.",
           "part_starts([1, 2], [3], part=1) -- [2]"}),
      row("array", {variadic("x", element)}, same(element), array_shape, evaluate_array, Lowering::array,
          {"index(dy, part)"},
          {"", "[a, b, …]: scalars become a vector, and tensors of one shape are stacked along a new first axis.",
           "array(1, 2, 3) -- [1,2,3]"}),
  };
  rows[0].aliases = {"concatenate"};
  return rows;
}

std::vector<OperatorInfo> access_rows() {
  std::vector<OperatorInfo> rows = {
      row("index", {operand("x", element), variadic("i", index, 1)}, same(element), index_shape, evaluate_index,
          Lowering::index, {"place(shape(x), dy, i...)", integer_operand},
          {"Gather",
           "x[i, j, …]: the part of x at these indices of its leading axes. The indices are integer scalars of one "
           "dtype, and may change from cycle to cycle. An index outside [0, extent) stops the run, also if it is "
           "negative.",
           "index([[1, 2], [3, 4]], 1, 0) -- 3"}),
      row("place", {integers("shape"), operand("x", element), variadic("i", index, 1)}, same(element), place_shape,
          evaluate_place, Lowering::place, {"index(dy, i...)", integer_operand},
          {"",
           "Zeros of the given shape, with x at [i, j, …]. Static indices may count from the end (-1). An index out of "
           "range stops the run.",
           "place([2, 2], [5, 6], 1) -- [0,0;5,6]"}),
      row("slice",
          {operand("x", element), integers("starts", "all"), integers("stops", "all"), integers("steps", "all")},
          same(element), slice_shape, evaluate_slice, Lowering::slice,
          {"place_slice(shape(x), dy, starts=starts, stops=stops, steps=steps)"},
          {"Slice",
           "x[a:b:c, …]: along each leading axis, every steps-th element from starts up to stops, excluding stops. "
           "Negative steps go backward. Bounds are static, may count from the end (-1), and must be within the extent. "
           "In a backward slice, the stop -extent - 1 includes the first element.",
           "slice([1, 2, 3, 4], 1, -1) -- [2,3]"}),
      row("place_slice",
          {integers("shape"), operand("x", element), integers("starts", "all"), integers("stops", "all"),
           integers("steps", "all")},
          same(element), place_slice_shape, evaluate_place_slice, Lowering::place_slice,
          {"slice(dy, starts=starts, stops=stops, steps=steps)"},
          {"", "Zeros of the given shape, with x at the elements that slice would read.",
           "place_slice([4], [5, 6], 1, 3) -- [0,5,6,0]"}),
  };
  rows[0].can_fail = rows[1].can_fail = true;
  return rows;
}

}  // namespace

std::vector<OperatorInfo> structural_operators() {
  std::vector<OperatorInfo> rows = shape_rows();
  for (OperatorInfo& info : assembly_rows()) rows.push_back(std::move(info));
  for (OperatorInfo& info : access_rows()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
