// Operators with a definition (definition.h): the softmax family, and reductions with more than
// one step.
//
// An application is replaced by its definition before code generation, so its parts fuse with
// surrounding operators. The gradients are written by hand, in terms of the result if that is
// more accurate.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "semantics/operators/definition.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::element, dtypes::number, dtypes::real;

ShapeResult along_axes(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (!reduced_axes(app.attributes[0], x.size())) return axes_error(app.attributes[0], x.size());
  return x;
}

// Shape of a reduction whose attributes begin with axis and keepdims.
ShapeResult reduced(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const auto axes = reduced_axes(app.attributes[0], x.size());
  if (!axes) return axes_error(app.attributes[0], x.size());
  if (std::string error = flag_error(app.attributes[1], "keepdims"); !error.empty()) return error;
  Shape shape;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (!(*axes)[k])
      shape.push_back(x[k]);
    else if (app.attributes[1].integers[0] != 0)
      shape.push_back(1);
  }
  return shape;
}

bool empty(const Application& app) { return *element_count(app.operand_shapes[0]) == 0; }

ShapeResult counted(const Application& app) {
  if (*element_count(app.operand_shapes[0]) > std::numeric_limits<std::int32_t>::max())
    return "a number of " + to_string(app.operand_shapes[0]) + " elements does not fit i32";
  return reduced(app);
}

std::vector<OperatorParameter> reduction(DTypeSet allowed) {
  return {operand("x", allowed), integers("axis", "all"), integers("keepdims", "0")};
}
std::vector<OperatorParameter> spread() {
  return {operand("x", real), integers("axis", "all"), integers("keepdims", "0"), number_attribute("ddof", "0")};
}

// ---- norms ----

// The square of this number, and sums of many such squares, are finite in f32.
constexpr const char* large = "1e15";

double order(const Application& app) { return app.attributes.back().number; }

ShapeResult normed(const Application& app) {
  if (!(order(app) >= 1)) return "the order of a norm is at least 1, or infinite";
  return reduced(app);
}

// The divisor applied before squaring, so that the squares do not overflow if the root is finite:
// the largest absolute value if it is large, else 1, which changes no digit. `x` is the text of
// an expression.
std::string scale_text(const std::string& x, const std::string& from) {
  const std::string most = "max(abs(" + x + "), axis=axis, keepdims=1)";
  return "select(logical_and(isfinite(" + most + "), " + most + " > " + from + "), " + most + ", 1.0)";
}
// The scale in the shape of the result, as a factor.
std::string scaled_back(const std::string& scale) {
  return "reshape(shape(sum(x, axis=axis, keepdims=keepdims)), " + scale + ") * ";
}

std::string_view norm_definition(const Application& app) {
  if (order(app) == 1 || empty(app)) return "sum(abs(x), axis=axis, keepdims=keepdims)";
  if (std::isinf(order(app))) return "max(abs(x), axis=axis, keepdims=keepdims)";
  const std::string scale = scale_text("x", order(app) == 2 ? large : "0.0");
  if (order(app) == 2)
    return kept_definition(scaled_back(scale) + "sqrt(sum(square(x * (1.0 / " + scale +
                           ")), axis=axis, keepdims=keepdims))");
  return kept_definition(scaled_back(scale) + "pow(sum(pow(abs(x) / " + scale +
                         ", ord), axis=axis, keepdims=keepdims), 1.0 / ord)");
}

// Shape of the slope of a norm. The attributes are axis, ord and times.
ShapeResult slope_shape(const Application& app) {
  const Attribute& times = app.attributes[2];
  if (!(app.attributes[1].number >= 1)) return "the order of a norm is at least 1, or infinite";
  if (times.integers.size() != 1 || times.integers[0] < 0)
    return "times must be one integer, not negative, and not " + to_string(times.integers);
  const auto both = broadcast(app.operand_shapes[0], app.operand_shapes[1]);
  if (!both || *both != app.operand_shapes[0])
    return "a norm of shape " + to_string(app.operand_shapes[1]) + " does not broadcast to " +
           to_string(app.operand_shapes[0]);
  return along_axes(app);
}

// sign(x) |x|^(p - 1) / n^(p - 1), differentiated `times` times by x. Each derivative multiplies
// by a factor, lowers the exponent of |x| by one, and removes the sign or brings it back.
std::string_view slope_definition(const Application& app) {
  const double p = app.attributes[1].number;
  const std::int64_t times = app.attributes[2].integers[0];
  if (std::isinf(p) && times == 0)
    return "select(abs(x) == n, sign(x), zeros_like(x)) / "
           "sum(select(abs(x) == n, ones_like(x), zeros_like(x)), axis=axis, keepdims=1)";
  if (p == 1 && times == 0) return "sign(x)";
  if (p == 2 && times == 0) return "select(n == 0.0, zeros_like(x), x / n)";
  double factor = 1;
  for (std::int64_t k = 1; k <= times; ++k) factor *= p - static_cast<double>(k);
  if (std::isinf(p) || factor == 0) return "zeros_like(x)";
  if (p == 2) return "select(n == 0.0, zeros_like(x), 1.0 / n)";
  const std::string sign = times % 2 == 0 ? "sign(x) * " : "";
  std::string factors;
  for (std::int64_t k = 1; k <= times; ++k) factors += " * (ord - " + std::to_string(k) + ".0)";
  std::string lengths = times == 0 ? "" : " / n";
  for (std::int64_t k = 1; k < times; ++k) lengths += " / n";
  return kept_definition("select(n == 0.0, zeros_like(x), " + sign + "pow(abs(x) / n, ord - " +
                         std::to_string(times + 1) + ".0)" + factors + lengths + ")");
}

std::vector<OperatorInfo> norm_rows() {
  return {
      defined<"norm">(
          {operand("x", real), integers("axis", "all"), integers("keepdims", "0"), number_attribute("ord", "2")},
          same(real), normed, norm_definition,
          {"reshape(shape(sum(x, axis=axis, keepdims=1)), dy) * "
           "norm_slope(x, reshape(shape(sum(x, axis=axis, keepdims=1)), y), axis=axis, ord=ord)"},
          {"ReduceL2",
           "The norm of order `ord`: the absolute values to the power `ord` are summed, and the result is the root of "
           "order `ord` of this sum. `ord` is at least 1; if it is infinite, the norm is the largest absolute value. "
           "The norm of no elements is 0. Where the norm is 0, the gradient and all higher derivatives are 0.",
           "norm([[3.0, 4.0], [6.0, 8.0]], axis=1) -- [5,10]"}),
      defined<"norm_slope">(
          {operand("x", real), operand("n", real), integers("axis", "all"), number_attribute("ord", "2"),
           integers("times", "0")},
          same(real), slope_shape, slope_definition,
          {"dy * norm_slope(x, n, axis=axis, ord=ord, times=times + 1)",
           "-sum_to(select(n == 0.0, zeros_like(x), dy * (x * norm_slope(x, n, axis=axis, "
           "ord=ord, times=times + 1) + cast_like(times, x) * norm_slope(x, n, axis=axis, ord=ord, times=times)) / "
           "select(n == 0.0, ones_like(n), n)), shape(n))"},
          {"",
           "The derivative of n with respect to x, where n is a norm of x that keeps its axes. It is the adjoint of "
           "norm. times=k differentiates k more times with respect to x, with n held constant. Where n is 0, the "
           "result is 0.",
           "norm_slope([3.0, 4.0], [5.0]) -- [0.6,0.8]"}),
  };
}

std::vector<OperatorInfo> softmax_rows() {
  return {
      defined<"softmax">(
          {operand("x", real), integers("axis", "-1")}, same(real), along_axes,
          [](const Application&) -> std::string_view {
            return "exp(x - max(x, axis=axis, keepdims=1)) / "
                   "sum(exp(x - max(x, axis=axis, keepdims=1)), axis=axis, keepdims=1)";
          },
          {"dy * y - y * sum(dy * y, axis=axis, keepdims=1)"},
          {"Softmax",
           "exp(x) / sum(exp(x)) along one or more axes, by default the last one: positive numbers whose sum is 1. The "
           "results are NaN if an element is NaN or inf, or if all elements are -inf.",
           "softmax([[0.0, 0.0], [1000.0, 0.0]]) -- [0.5,0.5;1,0]"}),
      defined<"log_softmax">({operand("x", real), integers("axis", "-1")}, same(real), along_axes,
                             [](const Application&) -> std::string_view {
                               return "x - max(x, axis=axis, keepdims=1) - "
                                      "log(sum(exp(x - max(x, axis=axis, keepdims=1)), axis=axis, keepdims=1))";
                             },
                             {"dy - exp(y) * sum(dy, axis=axis, keepdims=1)"},
                             {"LogSoftmax",
                              "log(softmax(x)) along one or more axes, by default the last one. It is accurate also "
                              "where softmax(x) is rounded to 0.",
                              "log_softmax([1000.0, 0.0]) -- [0,-1000]"}),
      defined<"logsumexp">(
          reduction(real), same(real), reduced,
          [](const Application& app) -> std::string_view {
            if (empty(app)) return "log(sum(x, axis=axis, keepdims=keepdims))";
            return "log(sum(exp(x - select(isfinite(max(x, axis=axis, keepdims=1)), max(x, axis=axis, keepdims=1), "
                   "0.0)), axis=axis, keepdims=keepdims)) + reshape(shape(sum(x, axis=axis, keepdims=keepdims)), "
                   "select(isfinite(max(x, axis=axis, keepdims=1)), max(x, axis=axis, keepdims=1), 0.0))";
          },
          {"reshape(shape(sum(x, axis=axis, keepdims=1)), dy) * exp(x - reshape(shape(sum(x, axis=axis, keepdims=1)), "
           "select(logical_and(isinf(y), y < 0.0), zeros_like(y), y)))"},
          {"ReduceLogSumExp",
           "log(sum(exp(x))) over the given axes, or over all axes, without overflow of exp; -inf if there are no "
           "elements. If all elements are -inf, the gradient is 0.",
           "logsumexp([1000.0, -1000.0]) -- 1000"}),
  };
}

std::vector<OperatorInfo> statistics_rows() {
  return {
      defined<"var">(
          spread(), same(real), reduced,
          [](const Application&) -> std::string_view {
            return "sum(square(x - mean(x, axis=axis, keepdims=1)), axis=axis, keepdims=keepdims) / "
                   "maximum(size(x, axis=axis) - ddof, 0.0)";
          },
          {"2.0 * (x - mean(x, axis=axis, keepdims=1)) * reshape(shape(sum(x, axis=axis, keepdims=1)), "
           "dy / (size(x, axis=axis) - cast_like(ddof, dy)))"},
          {"",
           "The variance over the given axes, or over all axes: the sum of the squared distances to the mean, divided "
           "by the number of elements minus `ddof`. It is NaN or infinite if this divisor is not positive.",
           "var([1.0, 3.0], ddof=1) -- 2"}),
      defined<"std">(
          spread(), same(real), reduced,
          [](const Application&) -> std::string_view {
            const std::string off = "(x - mean(x, axis=axis, keepdims=1))", scale = scale_text(off, large);
            return kept_definition(scaled_back(scale) + "sqrt(sum(square(" + off + " * (1.0 / " + scale +
                                   ")), axis=axis, keepdims=keepdims) / maximum(size(x, axis=axis) - ddof, 0.0))");
          },
          {"(x - mean(x, axis=axis, keepdims=1)) * reshape(shape(sum(x, axis=axis, keepdims=1)), "
           "select(y == 0.0, zeros_like(dy), dy / (select(y == 0.0, ones_like(y), y) * (size(x, axis=axis) - "
           "cast_like(ddof, dy)))))"},
          {"", "The square root of var. Where it is 0, the gradient is 0.", "std([1.0, 3.0]) -- 1"}),
      defined<"count_nonzero">(
          reduction(element), exactly(DType::i32), counted,
          [](const Application& app) -> std::string_view {
            if (app.operand_dtypes[0] == DType::boolean) return "sum(cast(i32, x), axis=axis, keepdims=keepdims)";
            return "sum(cast(i32, x != 0), axis=axis, keepdims=keepdims)";
          },
          {"none: the result is an integer"},
          {"", "The number of elements over the given axes, or over all axes, that are not 0, or that are true.",
           "count_nonzero([[1, 0], [2, 3]], axis=0) -- [2,1]"}),
  };
}

// ---- sums in an order of their own ----

// The sum along the first axis as a tree: of n remaining values, value k becomes k + (k + h),
// where h is n / 2 rounded up. A value without a partner remains.
std::string tree_text(std::int64_t count) {
  std::vector<std::string> parts;
  for (std::int64_t k = 0; k < count; ++k)
    parts.push_back("slice(x, " + std::to_string(k) + ", " + std::to_string(k + 1) + ")");
  while (parts.size() > 1) {
    const std::size_t half = (parts.size() + 1) / 2;
    for (std::size_t k = 0; k + half < parts.size(); ++k) parts[k] = "(" + parts[k] + " + " + parts[k + half] + ")";
    parts.resize(half);
  }
  return parts[0];
}

std::string_view tree_definition(const Application& app) {
  return kept_definition("reshape(shape(sum(x, axis=0)), " + tree_text(app.operand_shapes[0][0]) + ")");
}

ShapeResult summed(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (x.empty()) return "a scalar has no axis to sum along";
  constexpr std::int64_t most = 4096;
  if (x[0] > most)
    return "a tree of sums has at most " + std::to_string(most) + " elements, not " + std::to_string(x[0]);
  if (x[0] == 0) return "the first axis of " + to_string(x) + " is empty, so no elements can be summed";
  return Shape(x.begin() + 1, x.end());
}

std::vector<OperatorInfo> tree_rows() {
  return {
      defined<"tree_sum">(
          {operand("x", number)}, same(number), summed, tree_definition,
          {"broadcast_to(reshape(shape(sum(x, axis=0, keepdims=1)), dy), shape(x))"},
          {"",
           "The sum along the first axis, in the order of a binary tree that depends only on the length of the axis. "
           "While more than one value is left, let n be their number and h be n / 2, rounded up: value k becomes the "
           "sum of the values k and k + h, and h values are left. A value without a partner remains as it is.",
           "tree_sum([1.0, 10.0, 100.0]) -- 111"}),
  };
}

// ---- axes as one ----

// A tensor with some axes merged into one last axis: the order of its axes, the extents in this
// order, and the extent of the merged axis.
struct AxesBehind {
  std::vector<std::size_t> order;
  Shape extents;
  std::int64_t behind = 1;
  Shape result() const {
    Shape shape = kept;
    shape.push_back(behind);
    return shape;
  }
  Shape kept;
};
std::optional<AxesBehind> axes_behind(const Shape& whole, const Attribute& axis) {
  const auto moved = reduced_axes(axis, whole.size());
  if (!moved) return std::nullopt;
  AxesBehind a;
  for (const bool behind : {false, true}) {
    for (std::size_t k = 0; k < whole.size(); ++k) {
      if ((*moved)[k] != behind) continue;
      a.order.push_back(k);
      a.extents.push_back(whole[k]);
      if (behind)
        a.behind *= whole[k];
      else
        a.kept.push_back(whole[k]);
    }
  }
  return a;
}

std::string list_text(const auto& numbers) {
  std::string text;
  for (const auto n : numbers) text += (text.empty() ? "[" : ", ") + std::to_string(n);
  return text + "]";
}

ShapeResult last_shape(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  const auto a = axes_behind(x, app.attributes[0]);
  if (!a) return axes_error(app.attributes[0], x.size());
  return checked_shape(a->result());
}
std::string_view last_definition(const Application& app) {
  const AxesBehind a = *axes_behind(app.operand_shapes[0], app.attributes[0]);
  const std::string x = std::ranges::is_sorted(a.order) ? "x" : "transpose(x, axes=" + list_text(a.order) + ")";
  return kept_definition("reshape(" + list_text(a.result()) + ", " + x + ")");
}

ShapeResult back_shape(const Application& app) {
  const ShapeResult whole = shape_attribute(app);
  if (std::holds_alternative<std::string>(whole)) return whole;
  const auto a = axes_behind(std::get<Shape>(whole), app.attributes[1]);
  if (!a) return axes_error(app.attributes[1], std::get<Shape>(whole).size());
  if (app.operand_shapes[0] == a->result()) return whole;
  return "axes of " + to_string(std::get<Shape>(whole)) + " are last in " + to_string(a->result()) + ", not in " +
         to_string(app.operand_shapes[0]);
}
std::string_view back_definition(const Application& app) {
  const AxesBehind a = *axes_behind(app.attributes[0].integers, app.attributes[1]);
  if (a.order.empty()) return "squeeze(x)";
  const std::string x = "reshape(" + list_text(a.extents) + ", x)";
  return kept_definition(
      std::ranges::is_sorted(a.order) ? x : "transpose(" + x + ", axes=" + list_text(a.order) + ", inverse=1)");
}

std::vector<OperatorInfo> axes_rows() {
  return {
      defined<"axes_last">({operand("x", number), integers("axis", "all")}, same(number), last_shape, last_definition,
                           {"axes_back(shape(x), dy, axis=axis)"},
                           {"",
                            "x with the given axes, or all axes, merged into one last axis. The elements along it are "
                            "in row-major order.",
                            "axes_last([[1, 2], [3, 4]], 0) -- [1,3;2,4]"}),
      defined<"axes_back">({integers("shape"), operand("x", number), integers("axis", "all")}, same(number), back_shape,
                           back_definition, {"axes_last(dy, axis=axis)"},
                           {"", "The inverse of axes_last: the tensor of the given shape from which axes_last made x.",
                            "axes_back([2, 2], [[1, 3], [2, 4]], 0) -- [1,2;3,4]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> expanded_operators() {
  std::vector<OperatorInfo> rows;
  for (const auto family : {softmax_rows, statistics_rows, norm_rows, tree_rows, axes_rows})
    for (OperatorInfo& info : family()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
