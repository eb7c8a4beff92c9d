// Operators defined by others (definition.h): the softmax family and reductions of more than one step.
//
// An application is replaced by its definition before code is made, so its parts fuse with what is
// around it. The gradients are written by hand, in terms of the result where that keeps digits.
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>

#include "semantics/operators/definition.h"
#include "semantics/operators/rules.h"

namespace rml {

namespace {

using dtypes::element, dtypes::number, dtypes::real;

// A name as a template argument.
template <std::size_t N>
struct Name {
  char text[N];
  constexpr Name(const char (&t)[N]) {  // NOLINT(google-explicit-constructor): written as a literal
    for (std::size_t k = 0; k < N; ++k) text[k] = t[k];
  }
};

template <Name name>
Fault evaluate(const Application& app, const EvaluationContext&, std::span<const Tensor* const> operands,
               Tensor& result) {
  static const OperatorId id = operators().require(name.text);
  return evaluate_definition(operators()[id], app, operands, result);
}

template <Name name>
OperatorInfo defined(std::vector<OperatorParameter> parameters, DTypeSlot result, ShapeRule shape,
                     std::string_view (*definition)(const Application&), std::vector<std::string_view> vjp,
                     RowText text) {
  OperatorInfo info =
      row(name.text, std::move(parameters), result, shape, evaluate<name>, Lowering::expanded, std::move(vjp), text);
  info.definition = definition;
  return info;
}

ShapeResult along_axes(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (!reduced_axes(app.attributes[0], x.size())) return axes_error(app.attributes[0], x.size());
  return x;
}

// Attributes: axis, keepdims, …
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

double order(const Application& app) { return app.attributes.back().number; }

ShapeResult normed(const Application& app) {
  if (!(order(app) >= 1)) return "the order of a norm is at least 1, or infinite";
  return reduced(app);
}

std::string_view norm_definition(const Application& app) {
  if (order(app) == 1 || empty(app)) return "sum(abs(x), axis=axis, keepdims=keepdims)";
  if (order(app) == 2) return "sqrt(sum(square(x), axis=axis, keepdims=keepdims))";
  if (std::isinf(order(app))) return "max(abs(x), axis=axis, keepdims=keepdims)";
  return "pow(sum(pow(abs(x), ord), axis=axis, keepdims=keepdims), 1.0 / ord)";
}

ShapeResult slope_shape(const Application& app) {
  if (!(order(app) >= 1)) return "the order of a norm is at least 1, or infinite";
  const auto both = broadcast(app.operand_shapes[0], app.operand_shapes[1]);
  if (!both || *both != app.operand_shapes[0])
    return "a norm of shape " + to_string(app.operand_shapes[1]) + " does not broadcast to " +
           to_string(app.operand_shapes[0]);
  return along_axes(app);
}

std::string_view slope_definition(const Application& app) {
  if (order(app) == 1) return "sign(x)";
  if (order(app) == 2) return "select(n == 0.0, zeros_like(x), x / n)";
  if (std::isinf(order(app)))
    return "select(abs(x) == n, sign(x), zeros_like(x)) / "
           "sum(select(abs(x) == n, ones_like(x), zeros_like(x)), axis=axis, keepdims=1)";
  return "select(n == 0.0, zeros_like(x), sign(x) * pow(abs(x) / n, ord - 1.0))";
}

std::string_view curvature_definition(const Application& app) {
  if (order(app) == 1 || std::isinf(order(app))) return "zeros_like(x)";
  if (order(app) == 2) return "select(n == 0.0, zeros_like(x), 1.0 / n)";
  return "select(n == 0.0, zeros_like(x), (ord - 1.0) * pow(abs(x) / n, ord - 2.0) / n)";
}

std::vector<OperatorInfo> norm_rows() {
  return {
      defined<"norm">(
          {operand("x", real), integers("axis", "all"), integers("keepdims", "0"), number_attribute("ord", "2")},
          same(real), normed, norm_definition,
          {"reshape(shape(sum(x, axis=axis, keepdims=1)), dy) * "
           "norm_slope(x, reshape(shape(sum(x, axis=axis, keepdims=1)), y), axis=axis, ord=ord)"},
          {"ReduceL2",
           "The root of order `ord`, at least 1 or infinite, of the sum of the absolute values to that power; the "
           "largest absolute value where it is infinite. 0 of no elements. The gradient at 0 is 0, and so is the "
           "second.",
           "norm([[3.0, 4.0], [6.0, 8.0]], axis=1) -- [5,10]"}),
      defined<"norm_slope">(
          {operand("x", real), operand("n", real), integers("axis", "all"), number_attribute("ord", "2")}, same(real),
          slope_shape, slope_definition,
          {"dy * norm_curvature(x, n, axis=axis, ord=ord)",
           "-sum_to(dy * norm_curvature(x, n, axis=axis, ord=ord) * norm_slope(x, n, axis=axis), shape(n))"},
          {"", "The derivative by x of n, a norm of x that keeps its axes: the adjoint of norm.",
           "norm_slope([3.0, 4.0], [5.0]) -- [0.6,0.8]"}),
      defined<"norm_curvature">(
          {operand("x", real), operand("n", real), integers("axis", "all"), number_attribute("ord", "2")}, same(real),
          slope_shape, curvature_definition, {"none: it is a second derivative", "none: it is a second derivative"},
          {"", "The derivative of norm_slope by x, where n stays as it is; 0 where n is 0.",
           "norm_curvature([3.0, 4.0], [5.0]) -- [0.2,0.2]"}),
  };
}

std::vector<OperatorInfo> softmax_rows() {
  return {
      defined<"softmax">({operand("x", real), integers("axis", "-1")}, same(real), along_axes,
                         [](const Application&) -> std::string_view {
                           return "exp(x - max(x, axis=axis, keepdims=1)) / "
                                  "sum(exp(x - max(x, axis=axis, keepdims=1)), axis=axis, keepdims=1)";
                         },
                         {"dy * y - y * sum(dy * y, axis=axis, keepdims=1)"},
                         {"Softmax",
                          "exp(x) / sum(exp(x)) along an axis, the last, or axes: positive, with sum 1; NaN where an "
                          "element is NaN or "
                          "inf, or all are -inf.",
                          "softmax([[0.0, 0.0], [1000.0, 0.0]]) -- [0.5,0.5;1,0]"}),
      defined<"log_softmax">(
          {operand("x", real), integers("axis", "-1")}, same(real), along_axes,
          [](const Application&) -> std::string_view {
            return "x - max(x, axis=axis, keepdims=1) - "
                   "log(sum(exp(x - max(x, axis=axis, keepdims=1)), axis=axis, keepdims=1))";
          },
          {"dy - exp(y) * sum(dy, axis=axis, keepdims=1)"},
          {"LogSoftmax", "log(softmax(x)) along an axis, the last, or axes, also where softmax(x) is rounded to 0.",
           "log_softmax([1000.0, 0.0]) -- [0,-1000]"}),
      defined<"logsumexp">(
          reduction(real), same(real), reduced,
          [](const Application& app) -> std::string_view {
            if (empty(app)) return "log(sum(x, axis=axis, keepdims=keepdims))";
            return "log(sum(exp(x - select(isfinite(max(x, axis=axis, keepdims=1)), max(x, axis=axis, keepdims=1), "
                   "0.0)), axis=axis, keepdims=keepdims)) + reshape(shape(sum(x, axis=axis, keepdims=keepdims)), "
                   "select(isfinite(max(x, axis=axis, keepdims=1)), max(x, axis=axis, keepdims=1), 0.0))";
          },
          {"reshape(shape(sum(x, axis=axis, keepdims=1)), dy) * "
           "exp(x - reshape(shape(sum(x, axis=axis, keepdims=1)), y))"},
          {"ReduceLogSumExp",
           "log(sum(exp(x))) over the given axes, or over all, without overflow on the way; -inf of no elements.",
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
           "The mean squared distance to the mean over the given axes, or over all, the sum divided by the number of "
           "elements less `ddof`; NaN or infinite where that is not positive.",
           "var([1.0, 3.0], ddof=1) -- 2"}),
      defined<"std">(
          spread(), same(real), reduced,
          [](const Application&) -> std::string_view {
            return "sqrt(sum(square(x - mean(x, axis=axis, keepdims=1)), axis=axis, keepdims=keepdims) / "
                   "maximum(size(x, axis=axis) - ddof, 0.0))";
          },
          {"(x - mean(x, axis=axis, keepdims=1)) * reshape(shape(sum(x, axis=axis, keepdims=1)), "
           "select(y == 0.0, zeros_like(dy), dy / (select(y == 0.0, ones_like(y), y) * (size(x, axis=axis) - "
           "cast_like(ddof, dy)))))"},
          {"", "The root of var; the gradient where it is 0 is 0.", "std([1.0, 3.0]) -- 1"}),
      defined<"count_nonzero">(reduction(element), exactly(DType::i32), counted,
                               [](const Application& app) -> std::string_view {
                                 if (app.operand_dtypes[0] == DType::boolean)
                                   return "sum(cast(i32, x), axis=axis, keepdims=keepdims)";
                                 return "sum(cast(i32, x != 0), axis=axis, keepdims=keepdims)";
                               },
                               {"none: integer result"},
                               {"", "How many elements over the given axes, or of all, are not 0, or true.",
                                "count_nonzero([[1, 0], [2, 3]], axis=0) -- [2,1]"}),
  };
}

// ---- sums in an order of their own ----

// The elements along the first axis as a tree: of n that are left, number k becomes k + (k + h), h the half of n,
// rounded up; what has no partner stays as it is.
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

// The text for so many elements; it is kept, for definitions are looked at and not owned.
std::string_view tree_definition(const Application& app) {
  static std::mutex mutex;
  static std::map<std::int64_t, std::string> texts;
  const std::int64_t count = app.operand_shapes[0][0];
  const std::lock_guard lock(mutex);
  const auto [text, is_new] = texts.try_emplace(count);
  if (is_new) text->second = "reshape(shape(sum(x, axis=0)), " + tree_text(count) + ")";
  return text->second;
}

ShapeResult summed(const Application& app) {
  const Shape& x = app.operand_shapes[0];
  if (x.empty()) return "a scalar has no axis to sum along";
  constexpr std::int64_t most = 4096;
  if (x[0] > most)
    return "a tree of " + std::to_string(x[0]) + " values: at most " + std::to_string(most) + " are added so";
  if (x[0] == 0) return "there is nothing to sum: the first axis of " + to_string(x) + " is empty";
  return Shape(x.begin() + 1, x.end());
}

std::vector<OperatorInfo> tree_rows() {
  return {
      defined<"tree_sum">(
          {operand("x", number)}, same(number), summed, tree_definition,
          {"broadcast_to(reshape(shape(sum(x, axis=0, keepdims=1)), dy), shape(x))"},
          {"",
           "The sum along the first axis in the order of a binary tree that its length fixes: of n values that are "
           "left, number k becomes the sum of k and k + h, h the half of n, rounded up, and h are left; "
           "so on until there is one. What has no partner stays as it is.",
           "tree_sum([1.0, 10.0, 100.0]) -- 111"}),
  };
}

}  // namespace

std::vector<OperatorInfo> expanded_operators() {
  std::vector<OperatorInfo> rows;
  for (const auto family : {softmax_rows, statistics_rows, norm_rows, tree_rows})
    for (OperatorInfo& info : family()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
