// Reductions over axes, and sum_to, the adjoint of broadcasting.
//
// Elements are combined one after the other in row-major order, beginning with the first, in the
// operand's dtype. Without elements, a sum is 0, a product 1, a mean NaN, all true, any false,
// min the largest value of the dtype and max the smallest (as in ONNX); argmax and argmin are
// errors of shape. min and max combine by minimum and maximum, so a NaN wins. argmax and argmin
// return the first extremum (with last=1 the last), or the position of a NaN; without an axis
// they count elements in row-major order over all axes. In the gradients of min and max, elements
// that tie share equally; an empty input has no share.
#include <algorithm>
#include <limits>

#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/scalar.h"

namespace rml {

namespace {

using Operands = std::span<const Tensor* const>;
using dtypes::boolean, dtypes::number, dtypes::real;

// True if the attribute keepdims is not 0. Every reduction has the attributes axis and keepdims.
bool keeps(const Application& app) { return app.attributes[1].integers[0] != 0; }

ShapeResult reduced_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const auto reduced = reduced_axes(app.attributes[0], x.size());
  if (!reduced) return axes_error(app.attributes[0], x.size());
  if (std::string error = flag_error(app.attributes[1], "keepdims"); !error.empty()) return error;
  Shape shape;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!(*reduced)[k])
      shape.push_back(x[k]);
    else if (keeps(app))
      shape.push_back(1);
  }
  return shape;
}

ShapeResult extremum_place_shape(const Application& app) {
  const Attribute& axis = app.attributes[0];
  if (std::string error = flag_error(app.attributes[2], "last"); !error.empty()) return error;
  if (axis.given && axis.integers.size() != 1) return "one axis, or all, is searched: not " + to_string(axis.integers);
  if (*element_count(app.operand_shapes[0]) > std::numeric_limits<std::int32_t>::max()) {
    return "a position among " + to_string(app.operand_shapes[0]) + " elements does not fit i32";
  }
  ShapeResult shape = reduced_shape(app);
  if (std::holds_alternative<std::string>(shape)) return shape;
  if (*element_count(app.operand_shapes[0]) == 0 && *element_count(std::get<Shape>(shape)) > 0) {
    return "no extremum of no elements: the operand has shape " + to_string(app.operand_shapes[0]);
  }
  return shape;
}

// The result's strides along the operand's axes: 0 along reduced axes.
kernels::Strides result_strides(const Shape& x, const std::vector<bool>& reduced) {
  kernels::Strides strides{};
  std::int64_t stride = 1;
  for (std::size_t k = x.size(); k-- > 0;) {
    if (reduced[k]) continue;
    strides[k] = stride;
    stride *= x[k];
  }
  return strides;
}

// result[o] = combine(result[o], x[i]) for all i in order; the first x[i] is copied. Results
// without elements are not changed.
template <class T, class Combine>
void fold_into(T* result, std::int64_t results, const T* x, const Shape& shape, const kernels::Strides& to,
               Combine combine) {
  std::vector<bool> begun(static_cast<std::size_t>(results), false);
  kernels::walk<1>(shape, {to}, [&](const kernels::Row<1>& row) {
    const T* in = x + row.first;
    const std::int64_t step = row.stride[0];
    T* out = result + row.offset[0];
    if (step == 0) {
      T folded = begun[static_cast<std::size_t>(row.offset[0])] ? combine(*out, in[0]) : in[0];
      for (std::int64_t i = 1; i < row.count; ++i) folded = combine(folded, in[i]);
      *out = folded;
      begun[static_cast<std::size_t>(row.offset[0])] = true;
      return;
    }
    for (std::int64_t i = 0; i < row.count; ++i) {
      const auto o = static_cast<std::size_t>(row.offset[0] + i * step);
      out[i * step] = begun[o] ? combine(out[i * step], in[i]) : in[i];
      begun[o] = true;
    }
  });
}

enum class Nothing : std::uint8_t { zero, one, largest, smallest };

template <class T>
T value_of(Nothing of) {
  using Limits = std::numeric_limits<T>;
  const T most = Limits::has_infinity ? Limits::infinity() : Limits::max();
  if (of == Nothing::largest) return most;
  if (of == Nothing::smallest) return Limits::has_infinity ? static_cast<T>(-most) : Limits::lowest();
  return static_cast<T>(of == Nothing::one);
}

template <class Combine, Nothing of_nothing = Nothing::zero, DTypeSet Allowed = number>
Fault evaluate_fold(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = in[0]->shape();
  const kernels::Strides to = result_strides(shape, *reduced_axes(app.attributes[0], shape.size()));
  kernels::dispatch<Allowed>(result.dtype(), [&]<class T>(T) {
    std::fill_n(result.as<T>(), result.elements(), value_of<T>(of_nothing));
    fold_into(result.as<T>(), result.elements(), in[0]->as<T>(), shape, to, Combine{});
  });
  return {};
}

Fault evaluate_mean(const Application& app, const EvaluationContext& context, Operands in, Tensor& result) {
  evaluate_fold<scalar::Add>(app, context, in, result);
  std::int64_t count = 1;
  const auto reduced = *reduced_axes(app.attributes[0], in[0]->shape().size());
  for (std::size_t k = 0; k < reduced.size(); ++k) {
    if (reduced[k]) count *= in[0]->shape()[k];
  }
  kernels::dispatch<real>(result.dtype(), [&]<class T>(T) {
    for (std::int64_t i = 0; i < result.elements(); ++i) result.as<T>()[i] /= static_cast<T>(count);
  });
  return {};
}

struct Above {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Below {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

// Better says whether an element precedes an earlier one. `last` is the attribute of that name.
template <class Better>
Fault evaluate_extremum_place(const Application& app, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = in[0]->shape();
  const Attribute& axis = app.attributes[0];
  if (result.elements() == 0) return {};
  // Treats the shape as [before, searched, after].
  std::int64_t searched = in[0]->elements(), after = 1;
  if (axis.given) {
    const std::size_t k = *normalized_axis(axis.integers[0], shape.size());
    searched = shape[k];
    for (std::size_t j = k + 1; j < shape.size(); ++j) after *= shape[j];
  }
  const bool last = app.attributes[2].integers[0] != 0;
  kernels::dispatch<number>(in[0]->dtype(), [&]<class T>(T) {
    for (std::int64_t o = 0; o < result.elements(); ++o) {
      const T* x = in[0]->as<T>() + (o / after) * searched * after + o % after;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < searched; ++i) {
        const T candidate = x[i * after], so_far = x[best * after];
        const bool found = so_far != so_far;
        if (candidate != candidate ? last || !found
                                   : !found && (Better{}(candidate, so_far) || (last && candidate == so_far)))
          best = i;
      }
      result.as<std::int32_t>()[o] = static_cast<std::int32_t>(best);
    }
  });
  return {};
}

ShapeResult sum_to_shape(const Application& app) {
  ShapeResult target = shape_attribute(app);
  if (std::holds_alternative<std::string>(target)) return target;
  const Shape &x = app.operand_shapes[0], &shape = std::get<Shape>(target);
  if (broadcast(shape, x) != x) return "cannot sum " + to_string(x) + " to " + to_string(shape);
  return target;
}

Fault evaluate_sum_to(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = in[0]->shape();
  if (result.bytes() > 0) std::memset(result.data(), 0, result.bytes());
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    fold_into(result.as<T>(), result.elements(), in[0]->as<T>(), shape,
              kernels::broadcast_strides(result.shape(), shape), scalar::Add{});
  });
  return {};
}

OperatorInfo reduction(std::string_view name, DTypeSet allowed, DTypeSlot result, ShapeRule shape, Evaluate evaluate,
                       Lowering lowering, std::string_view vjp, RowText text) {
  return row(name, {operand("x", allowed), integers("axis", "all"), integers("keepdims", "0")}, result, shape, evaluate,
             lowering, {vjp}, text);
}

OperatorInfo place_of_extremum(std::string_view name, Evaluate evaluate, Lowering lowering, RowText text) {
  return row(name, {operand("x", number), integers("axis", "all"), integers("keepdims", "0"), integers("last", "0")},
             exactly(DType::i32), extremum_place_shape, evaluate, lowering, {"none: the result is an integer"}, text);
}

// The product of all other elements, as product of those before and those after: zeros need no
// special case, and derivatives of any order are right.
constexpr std::string_view product_rule =
    "reshape(shape(prod(x, axis=axis, keepdims=1)), dy) * axes_back(shape(x), "
    "cumprod(axes_last(x, axis=axis), axis=-1, exclusive=1) * "
    "cumprod(axes_last(x, axis=axis), axis=-1, exclusive=1, reverse=1), axis=axis)";

std::vector<OperatorInfo> folds() {
  return {
      reduction(
          "sum", number, same(number), reduced_shape, evaluate_fold<scalar::Add>, Lowering::reduce_sum,
          "broadcast_to(reshape(shape(sum(x, axis=axis, keepdims=1)), dy), shape(x))",
          {"ReduceSum", "The sum over the given axes, or over all axes. keepdims=1 keeps these axes, with extent 1.",
           "sum([[1, 2], [3, 4]], axis=0) -- [4,6]"}),
      reduction("mean", real, same(real), reduced_shape, evaluate_mean, Lowering::reduce_mean,
                "broadcast_to(reshape(shape(sum(x, axis=axis, keepdims=1)), dy / size(x, axis=axis)), shape(x))",
                {"ReduceMean", "The mean over the given axes, or over all axes; NaN if there are no elements.",
                 "mean([[1.0, 2.0], [3.0, 4.0]], axis=1) -- [1.5,3.5]"}),
      reduction("min", number, same(number), reduced_shape, evaluate_fold<scalar::Minimum, Nothing::largest>,
                Lowering::reduce_min,
                "select(x == min(x, axis=axis, keepdims=1), reshape(shape(min(x, axis=axis, keepdims=1)), dy) / "
                "maximum(sum(select(x == min(x, axis=axis, keepdims=1), ones_like(x), zeros_like(x)), axis=axis, "
                "keepdims=1), "
                "1.0), "
                "zeros_like(x))",
                {"ReduceMin",
                 "The smallest element over the given axes, or over all axes; NaN if an element is NaN. Without "
                 "elements it is inf, or the largest integer.",
                 "min([3, 1, 2]) -- 1"}),
      reduction("max", number, same(number), reduced_shape, evaluate_fold<scalar::Maximum, Nothing::smallest>,
                Lowering::reduce_max,
                "select(x == max(x, axis=axis, keepdims=1), reshape(shape(max(x, axis=axis, keepdims=1)), dy) / "
                "maximum(sum(select(x == max(x, axis=axis, keepdims=1), ones_like(x), zeros_like(x)), axis=axis, "
                "keepdims=1), "
                "1.0), "
                "zeros_like(x))",
                {"ReduceMax",
                 "The largest element over the given axes, or over all axes; NaN if an element is NaN. Without "
                 "elements it is -inf, or the smallest integer.",
                 "max([[1, 4], [3, 2]], axis=1) -- [4,3]"}),
      reduction("prod", number, same(number), reduced_shape, evaluate_fold<scalar::Mul, Nothing::one>,
                Lowering::reduce_prod, product_rule,
                {"ReduceProd",
                 "The product over the given axes, or over all axes; 1 if there are no elements. Integers wrap.",
                 "prod([[1, 2], [3, 4]], axis=0) -- [3,8]"}),
      reduction(
          "all", boolean, exactly(DType::boolean), reduced_shape, evaluate_fold<scalar::And, Nothing::one, boolean>,
          Lowering::reduce_all, "none: the result is Boolean",
          {"", "True if all elements over the given axes, or over all axes, are true. Without elements it is true.",
           "all([[true, false], [true, true]], axis=1) -- [F,T]"}),
      reduction(
          "any", boolean, exactly(DType::boolean), reduced_shape, evaluate_fold<scalar::Or, Nothing::zero, boolean>,
          Lowering::reduce_any, "none: the result is Boolean",
          {"",
           "True if at least one element over the given axes, or over all axes, is true. Without elements it is false.",
           "any([[true, false], [false, false]], axis=1) -- [T,F]"}),
  };
}

std::vector<OperatorInfo> extremum_places() {
  return {
      place_of_extremum(
          "argmax", evaluate_extremum_place<Above>, Lowering::argmax,
          {"ArgMax",
           "The position of the first maximum along an axis, or among all elements; with last=1, of the last maximum. "
           "If there is a NaN, it is the position of the first NaN, or with last=1 of the last NaN.",
           "argmax([1, 5, 5]) -- 1"}),
      place_of_extremum(
          "argmin", evaluate_extremum_place<Below>, Lowering::argmin,
          {"ArgMin",
           "The position of the first minimum along an axis, or among all elements; with last=1, of the last minimum. "
           "If there is a NaN, it is the position of the first NaN, or with last=1 of the last NaN.",
           "argmin([[2, 1], [0, 3]], axis=1) -- [1,0]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> reduction_operators() {
  std::vector<OperatorInfo> rows = folds();
  for (OperatorInfo& info : extremum_places()) rows.push_back(std::move(info));
  rows.push_back(row("sum_to", {operand("x", number), integers("shape")}, same(number), sum_to_shape, evaluate_sum_to,
                     Lowering::sum_to, {"broadcast_to(dy, shape(x))"},
                     {"",
                      "The sum of x over the axes along which the given shape broadcasts to the shape of x. It is the "
                      "adjoint of broadcasting.",
                      "sum_to([[1, 2], [3, 4]], [2]) -- [4,6]"}));
  return rows;
}

}  // namespace rml
