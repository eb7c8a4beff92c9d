// Tensors made from shapes and scalars, and shapes taken from tensors.
//
// shape, size, zeros, ones, zeros_like and ones_like depend only on static facts and are folded
// to constants; their operands are not evaluated. The dtype of zeros, ones, one_hot and size is
// determined by the context, else it is f32 (size: i32).
#include <limits>

#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using dtypes::element, dtypes::index, dtypes::number;

void fill(Tensor& result, std::int64_t value) {
  kernels::dispatch<element>(
      result.dtype(), [&]<class T>(T) { std::fill_n(result.as<T>(), result.elements(), static_cast<T>(value)); });
}

Fault evaluate_zeros(const Application&, const EvaluationContext&, Operands, Tensor& result) {
  fill(result, 0);
  return {};
}

Fault evaluate_ones(const Application&, const EvaluationContext&, Operands, Tensor& result) {
  fill(result, 1);
  return {};
}

ShapeResult full_shape(const Application& app) {
  if (!app.operand_shapes[0].empty()) {
    return "full takes a scalar, not " + to_string(app.operand_shapes[0]) + ": write broadcast_to(x, shape)";
  }
  return shape_attribute(app);
}

// Evaluates param to its initial value. Loaded parameters are handled by the engines.
Fault evaluate_param(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  result = *in[0];
  return {};
}

ShapeResult sharers_shape(const Application& app) {
  const auto& maps = app.attributes[0].integers;
  if (maps.size() != 1 || maps[0] < 1) return "the number of maps must be one integer above 0, not " + to_string(maps);
  return same_shape(app);
}

Fault evaluate_full(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::copy_strided(result.shape(), result, 0, kernels::dense_strides(result.shape()), *in[0], 0, {});
  return {};
}

// The shape for an attribute that is one integer, such as n of iota.
ShapeResult extent_attribute(const Attribute& attribute, std::string_view what) {
  if (attribute.integers.size() != 1)
    return std::string(what) + " must be one integer, not " + to_string(attribute.integers);
  const std::int64_t extent = attribute.integers[0];
  if (extent < 0) return std::string(what) + " " + std::to_string(extent) + " is negative";
  if (extent > std::numeric_limits<std::int32_t>::max())
    return std::string(what) + " " + std::to_string(extent) + " does not fit i32";
  return Shape{extent};
}

ShapeResult iota_shape(const Application& app) { return extent_attribute(app.attributes[0], "length"); }

Fault evaluate_iota(const Application&, const EvaluationContext&, Operands, Tensor& result) {
  for (std::int64_t i = 0; i < result.elements(); ++i) result.as<std::int32_t>()[i] = static_cast<std::int32_t>(i);
  return {};
}

ShapeResult one_hot_shape(const Application& app) {
  const ShapeResult depth = extent_attribute(app.attributes[0], "depth");
  if (std::holds_alternative<std::string>(depth)) return depth;
  Shape shape = app.operand_shapes[0];
  shape.push_back(std::get<Shape>(depth)[0]);
  return checked_shape(std::move(shape));
}

Fault evaluate_one_hot(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const std::int64_t depth = result.shape().back();
  fill(result, 0);
  kernels::dispatch<index>(in[0]->dtype(), [&]<class I>(I) {
    const I* index = in[0]->as<I>();
    kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
      for (std::int64_t k = 0; k < in[0]->elements(); ++k) {
        const auto at = static_cast<std::int64_t>(index[k]);
        if (at >= 0 && at < depth) result.as<T>()[k * depth + at] = T(1);
      }
    });
  });
  return {};
}

ShapeResult shape_shape(const Application& app) {
  for (const std::int64_t extent : app.operand_shapes[0]) {
    if (extent > std::numeric_limits<std::int32_t>::max())
      return "extent " + std::to_string(extent) + " does not fit i32";
  }
  return Shape{static_cast<std::int64_t>(app.operand_shapes[0].size())};
}

Fault evaluate_shape(const Application& app, const EvaluationContext&, Operands, Tensor& result) {
  for (std::size_t k = 0; k < app.operand_shapes[0].size(); ++k) {
    result.as<std::int32_t>()[k] = static_cast<std::int32_t>(app.operand_shapes[0][k]);
  }
  return {};
}

std::int64_t size_of_axes(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const auto axes = *reduced_axes(app.attributes[0], x.size());
  std::int64_t count = 1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (axes[k]) count *= x[k];
  }
  return count;
}

ShapeResult size_shape(const Application& app) {
  const std::size_t rank = app.operand_shapes[0].size();
  if (!reduced_axes(app.attributes[0], rank)) return axes_error(app.attributes[0], rank);
  const unsigned bytes = static_cast<unsigned>(byte_size(app.result_dtype));
  if (is_integer(app.result_dtype) && bytes < 8) {
    const std::int64_t largest = (std::int64_t{1} << (8 * bytes - (is_signed(app.result_dtype) ? 1 : 0))) - 1;
    if (size_of_axes(app) > largest) {
      return "size " + std::to_string(size_of_axes(app)) + " does not fit " + std::string(name(app.result_dtype));
    }
  }
  return Shape{};
}

Fault evaluate_size(const Application& app, const EvaluationContext&, Operands, Tensor& result) {
  fill(result, size_of_axes(app));
  return {};
}

constexpr std::string_view constant = "none: the result is a constant";
constexpr DTypeSlot free_number = {0, number, DType::f32};
constexpr DTypeSlot free_stored = {0, dtypes::ordered, DType::f32};

}  // namespace

std::vector<OperatorInfo> construction_operators() {
  return {
      row("zeros", {integers("shape")}, free_stored, shape_attribute, evaluate_zeros, Lowering::folded, {},
          {"ConstantOfShape", "Zeros of the given shape and of the dtype of their use, else f32.",
           "zeros([2]) -- [0,0]"}),
      row("ones", {integers("shape")}, free_stored, shape_attribute, evaluate_ones, Lowering::folded, {},
          {"ConstantOfShape", "Ones of the given shape and of the dtype of their use, else f32.",
           "ones([2]) -- [1,1]"}),
      row("full", {integers("shape"), operand("value", element)}, same(element), full_shape, evaluate_full,
          Lowering::broadcast, {"sum(dy)"},
          {"Expand", "A tensor of the given shape, whose elements all equal the scalar value.",
           "full([2, 2], 7) -- [7,7;7,7]"}),
      row("zeros_like", {operand("x", element)}, same(element), same_shape, evaluate_zeros, Lowering::folded,
          {constant},
          {"ConstantOfShape", "Zeros (false for Booleans) of the shape and dtype of x.",
           "zeros_like([1.5, 2.5]) -- [0,0]"}),
      row("ones_like", {operand("x", element)}, same(element), same_shape, evaluate_ones, Lowering::folded, {constant},
          {"ConstantOfShape", "Ones (true for Booleans) of the shape and dtype of x.",
           "ones_like([1.5, 2.5]) -- [1,1]"}),
      row("param", {operand("init", element)}, same(element), same_shape, evaluate_param, Lowering::parameter,
          {"none: training moves the parameter, not its first value"},
          {"",
           "A parameter, identified by its path. It begins with the value of init at the first cycle, or of "
           "--load-params.",
           "param(1.5) -- 1.5"}),
      row("sum_over_parameters", {operand("x", dtypes::real)}, same(dtypes::real), same_shape, evaluate_param,
          Lowering::folded, {"dy"},
          {"",
           "In an optimiser, the sum of x over all parameters that one `diff` updates. x must be present at the same "
           "cycles for all of them, and have one type and shape, as sum(g * g) has. Anywhere else, the result is x.",
           "sum_over_parameters(2.5) -- 2.5"}),
      row("sum_over_elements", {operand("x", element)}, same(element), same_shape, evaluate_param, Lowering::folded,
          {"sum_over_elements(dy)"},
          {"",
           "In a node that `map` calls for each element, the sum of x over all elements; for Booleans, true if x is "
           "true for any element. All elements have the same result. Anywhere else, the result is x.",
           "sum_over_elements(2.5) -- 2.5"}),
      row("sum_over_sharers", {operand("x", element), operand("p", element, 1), integers("maps")}, same(element),
          sharers_shape, evaluate_param, Lowering::folded,
          {"sum_over_sharers(dy, p, maps)", "none: it only says which elements share p"},
          {"",
           "`diff` generates this operator for a parameter p in nodes that `map` calls. It is the sum of x over those "
           "elements of the surrounding nested maps that share p; for Booleans, true if any of them is true. `maps` is "
           "the number of these maps. If each element has its own p, and anywhere else, the result is x.",
           "sum_over_sharers(2.5, 1.0, 1) -- 2.5"}),
      row("iota", {integers("n")}, exactly(DType::i32), iota_shape, evaluate_iota, Lowering::iota, {},
          {"Range", "The i32 vector 0, 1, …, n - 1.", "iota(3) -- [0,1,2]"}),
      row("one_hot", {operand("i", index, 1), integers("depth")}, free_number, one_hot_shape, evaluate_one_hot,
          Lowering::one_hot, {"none: it is an integer"},
          {"OneHot",
           "A new last axis of extent depth, with 1 at position i and 0 elsewhere; all 0 if i is outside [0, depth).",
           "one_hot([1, 3], 3) -- [0,1,0;0,0,0]"}),
      row("shape", {operand("x", element)}, exactly(DType::i32), shape_shape, evaluate_shape, Lowering::folded,
          {"none: only its shape is read"},
          {"Shape", "The shape of x, as a constant i32 vector.", "shape([[1, 2, 3]]) -- [1,3]"}),
      row("size", {operand("x", element, 1), integers("axis", "all")}, {0, number, DType::i32}, size_shape,
          evaluate_size, Lowering::folded, {"none: only its shape is read"},
          {"Size", "The constant number of elements of x, or along the given axes.", "size([[1, 2, 3]], 1) -- 3"}),
  };
}

}  // namespace rml
