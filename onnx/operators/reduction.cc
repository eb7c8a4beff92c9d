// Imports reductions along axes.
#include "onnx/call.h"

namespace rml::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

// The first version in which the axes are an input instead of an attribute.
int input_since(std::string_view op) { return op == "ReduceSum" ? 13 : 18; }

struct Axes {
  bool none = false;  // true if no axis is reduced, so that the result is the operand
  Arguments arguments;
};

Axes reduced(const Call& c) {
  const Term& x = c.in(0);
  const auto given = c.axes(1, input_since(c.node.op));
  Axes axes;
  if (!given || given->empty()) {
    axes.none = c.integer("noop_with_empty_axes", 0) != 0;
  } else {
    axes.arguments.emplace_back("axis", normalized(*given, x.rank()));
  }
  if (c.integer("keepdims", 1) != 0) axes.arguments.emplace_back("keepdims", std::int64_t{1});
  return axes;
}

template <class Before, class After>
std::vector<Term> reduce(const Call& c, std::string_view op, Before before, After after) {
  const Axes axes = reduced(c);
  const Term x = before(c.in(0));
  return {after(axes.none ? x : c.apply(op, {x}, axes.arguments))};
}

Term itself(const Term& x) { return x; }

std::vector<Term> sum(Call& c) { return reduce(c, "sum", itself, itself); }
std::vector<Term> product(Call& c) { return reduce(c, "prod", itself, itself); }

// Integers are averaged in f64, as in NumPy, and then truncated.
std::vector<Term> mean(Call& c) {
  const DType dtype = c.in(0).dtype;
  if (is_float(dtype)) return reduce(c, "mean", itself, itself);
  return reduce(
      c, "mean", [&](const Term& x) { return c.apply("cast", {x}, {{"dtype", DType::f64}}); },
      [&](const Term& y) { return c.apply("cast", {y}, {{"dtype", dtype}}); });
}

std::vector<Term> extremum(Call& c) {
  const std::string_view op = c.node.op == "ReduceMax" ? "max" : "min";
  if (c.in(0).dtype != DType::boolean) return reduce(c, op, itself, itself);
  return reduce(
      c, op, [&](const Term& x) { return c.apply("cast", {x}, {{"dtype", DType::u8}}); },
      [&](const Term& y) { return c.apply("cast", {y}, {{"dtype", DType::boolean}}); });
}

std::vector<Term> absolute_sum(Call& c) {
  return reduce(c, "sum", [&](const Term& x) { return c.apply("abs", {x}); }, itself);
}
Term squared(const Call& c, const Term& x) { return c.apply("mul", {x, x}); }
std::vector<Term> square_sum(Call& c) {
  return reduce(c, "sum", [&](const Term& x) { return squared(c, x); }, itself);
}

// Integers are reduced in f64, because roots and logarithms need floats.
template <class Before, class After>
std::vector<Term> in_floats(const Call& c, std::string_view op, Before before, After after) {
  const DType dtype = c.in(0).dtype;
  if (is_float(dtype)) return reduce(c, op, before, after);
  return reduce(
      c, op, [&](const Term& x) { return before(c.apply("cast", {x}, {{"dtype", DType::f64}})); },
      [&](const Term& y) { return c.apply("cast", {after(y)}, {{"dtype", dtype}}); });
}

std::vector<Term> euclidean(Call& c) {
  return in_floats(
      c, "sum", [&](const Term& x) { return squared(c, c.b.shared(x)); },
      [&](const Term& y) { return c.apply("sqrt", {y}); });
}
std::vector<Term> log_sum(Call& c) {
  return in_floats(c, "sum", itself, [&](const Term& y) { return c.apply("log", {y}); });
}
std::vector<Term> log_sum_exp(Call& c) { return in_floats(c, "logsumexp", itself, itself); }

std::vector<Term> position(Call& c) {
  const Term& x = c.in(0);
  const std::int64_t axis = normalized(c.integer("axis", 0), x.rank());
  Arguments arguments = {{"axis", axis}};
  if (c.integer("keepdims", 1) != 0) arguments.emplace_back("keepdims", std::int64_t{1});
  if (c.integer("select_last_index", 0) != 0) arguments.emplace_back("last", std::int64_t{1});
  const Term at = c.apply(c.node.op == "ArgMax" ? "argmax" : "argmin", {x}, arguments);
  return {c.apply("cast", {at}, {{"dtype", DType::i64}})};
}

std::vector<Term> running(Call& c) {
  const Term& x = c.in(0);
  Arguments arguments = {{"axis", normalized(c.known_integer(1, "the axis"), x.rank())}};
  if (c.integer("exclusive", 0) != 0) arguments.emplace_back("exclusive", std::int64_t{1});
  if (c.integer("reverse", 0) != 0) arguments.emplace_back("reverse", std::int64_t{1});
  return {c.apply(c.node.op == "CumSum" ? "cumsum" : "cumprod", {x}, arguments)};
}

}  // namespace

std::vector<Row> reduction_rows() {
  std::vector<Row> rows;
  const std::string_view attributes = "axes:ints keepdims:i noop_with_empty_axes:i";
  for (const auto& [op, lower] : std::initializer_list<std::pair<std::string_view, std::vector<Term> (*)(Call&)>>{
           {"ReduceSum", sum},
           {"ReduceProd", product},
           {"ReduceMean", mean},
           {"ReduceMax", extremum},
           {"ReduceMin", extremum},
           {"ReduceL1", absolute_sum},
           {"ReduceSumSquare", square_sum},
           {"ReduceL2", euclidean},
           {"ReduceLogSum", log_sum},
           {"ReduceLogSumExp", log_sum_exp}})
    rows.push_back({op, 1, 1, 2, 1, attributes, lower});
  for (const std::string_view op : {"ArgMax", "ArgMin"})
    rows.push_back({op, 1, 1, 1, 1, "axis:i keepdims:i select_last_index:i", position});
  rows.push_back({"CumSum", 11, 2, 2, 1, "exclusive:i reverse:i", running});
  rows.push_back({"CumProd", 26, 2, 2, 1, "exclusive:i reverse:i", running});
  return rows;
}

}  // namespace rml::onnx
