// Imports activations by their formulas.
#include <functional>

#include "onnx/activation.h"
#include "onnx/call.h"

namespace rml::onnx {

namespace {

// Selects x where x >= 0, and `below` elsewhere.
Term above(Builder& b, const Term& x, const Term& below) {
  return b.apply("select", {b.apply("lt", {x, b.scalar(x.dtype, 0)}), below, x});
}

}  // namespace

Term leaky_relu(Builder& b, const Term& x, double alpha) {
  return above(b, x, b.apply("mul", {b.scalar(x.dtype, alpha), x}));
}

Term elu(Builder& b, const Term& x, double alpha) {
  return above(b, x, b.apply("mul", {b.scalar(x.dtype, alpha), b.apply("expm1", {x})}));
}

Term thresholded_relu(Builder& b, const Term& x, double alpha) {
  return b.apply("select", {b.apply("gt", {x, b.scalar(x.dtype, alpha)}), x, b.scalar(x.dtype, 0)});
}

Term affine(Builder& b, const Term& x, double alpha, double beta) {
  return b.apply("add", {b.apply("mul", {b.scalar(x.dtype, alpha), x}), b.scalar(x.dtype, beta)});
}

Term hard_sigmoid(Builder& b, const Term& x, double alpha, double beta) {
  const Term line = affine(b, x, alpha, beta);
  return b.apply("maximum", {b.apply("minimum", {line, b.scalar(x.dtype, 1)}), b.scalar(x.dtype, 0)});
}

Term softsign(Builder& b, const Term& x) {
  return b.apply("div", {x, b.apply("add", {b.scalar(x.dtype, 1), b.apply("abs", {x})})});
}

namespace {

Term number(const Call& c, double value) { return c.b.scalar(c.in(0).dtype, value); }
Term zero(const Call& c) { return number(c, 0); }

std::vector<Term> leaky(Call& c) { return {leaky_relu(c.b, c.in(0), c.number("alpha", 0.01))}; }

std::vector<Term> prelu(Call& c) {
  const Term x = c.in(0);
  Term slope = c.in(1);
  if (c.version < 7 && slope.rank() == 1 && x.rank() > 2 && slope.shape[0] > 1) {
    Shape shape(static_cast<std::size_t>(x.rank() - 1), 1);
    shape[0] = slope.shape[0];
    slope = c.apply("reshape", {slope}, {{"shape", shape}});
  }
  return {above(c.b, x, c.apply("mul", {slope, x}))};
}

std::vector<Term> exponential_linear(Call& c) { return {elu(c.b, c.in(0), c.number("alpha", 1))}; }

std::vector<Term> selu(Call& c) {
  const Term x = c.in(0);
  const bool old = c.version < 6;
  const double alpha = c.number("alpha", old ? 1.6732 : 1.67326319217681884765625);
  const double gamma = c.number("gamma", old ? 1.0507 : 1.05070102214813232421875);
  return {c.apply("mul", {number(c, gamma), elu(c.b, x, alpha)})};
}

std::vector<Term> celu(Call& c) {
  const Term x = c.in(0);
  const double alpha = c.number("alpha", 1);
  return {above(c.b, x, c.apply("mul", {number(c, alpha), c.apply("expm1", {c.apply("div", {x, number(c, alpha)})})}))};
}

std::vector<Term> thresholded(Call& c) { return {thresholded_relu(c.b, c.in(0), c.number("alpha", 1))}; }

std::vector<Term> shrink(Call& c) {
  const Term& x = c.in(0);
  const Term bias = number(c, c.number("bias", 0)), lambda = number(c, c.number("lambd", 0.5));
  const Term high = c.apply("select", {c.apply("gt", {x, lambda}), c.apply("sub", {x, bias}), zero(c)});
  return {c.apply("select", {c.apply("lt", {x, c.apply("negate", {lambda})}), c.apply("add", {x, bias}), high})};
}

std::vector<Term> hard(Call& c) { return {hard_sigmoid(c.b, c.in(0), c.number("alpha", 0.2), c.number("beta", 0.5))}; }
std::vector<Term> hard_swish(Call& c) { return {c.apply("mul", {c.in(0), hard_sigmoid(c.b, c.in(0), 1.0 / 6, 0.5)})}; }

std::vector<Term> soft(Call& c) { return {softsign(c.b, c.in(0))}; }

std::vector<Term> mish(Call& c) {
  return {c.apply("mul", {c.in(0), c.apply("tanh", {c.apply("softplus", {c.in(0)})})})};
}

std::vector<Term> swish(Call& c) {
  const double alpha = c.number("alpha", 1);
  const Term& x = c.in(0);
  const Term inner = alpha == 1 ? x : c.apply("mul", {number(c, alpha), x});
  return {c.apply("mul", {x, c.apply("sigmoid", {inner})})};
}

std::vector<Term> gelu(Call& c) {
  const Term& x = c.in(0);
  const std::string form = c.text("approximate", "none");
  if (form != "none" && form != "tanh")
    throw ModelError{"", "the approximation '" + form + "' is not known: none, tanh"};
  const Term half = c.apply("mul", {number(c, 0.5), x});
  if (form == "none") {
    const Term inner = c.apply("mul", {x, number(c, 0.70710678118654752440)});
    return {c.apply("mul", {half, c.apply("add", {number(c, 1), c.apply("erf", {inner})})})};
  }
  const Term cube = c.apply("mul", {number(c, 0.044715), c.apply("mul", {c.apply("mul", {x, x}), x})});
  const Term inner = c.apply("mul", {number(c, 0.79788456080286535588), c.apply("add", {x, cube})});
  return {c.apply("mul", {half, c.apply("add", {number(c, 1), c.apply("tanh", {inner})})})};
}

// Before version 13, the function applies to a matrix: all axes before `axis` form the rows, the
// others the columns.
Term flattened(const Call& c, std::int64_t axis, const std::function<Term(const Term&)>& f) {
  const Term& x = c.in(0);
  std::int64_t rows = 1, columns = 1;
  for (std::int64_t k = 0; k < x.rank(); ++k) (k < axis ? rows : columns) *= x.shape[static_cast<std::size_t>(k)];
  const std::vector<std::int64_t> matrix = {rows, columns};
  return c.apply("reshape", {f(c.apply("reshape", {x}, {{"shape", matrix}}))}, {{"shape", x.shape}});
}

Term along(const Call& c, const std::function<Term(const Term&, std::int64_t)>& f) {
  const std::int64_t rank = c.in(0).rank();
  if (c.version >= 13) return f(c.in(0), normalized(c.integer("axis", -1), rank));
  const std::int64_t axis = normalized(c.integer("axis", 1), rank);
  if (axis == rank - 1) return f(c.in(0), axis);
  return flattened(c, axis, [&](const Term& x) { return f(x, 1); });
}

std::vector<Term> softmax(Call& c) {
  return {along(c, [&](const Term& x, std::int64_t axis) { return c.apply("softmax", {x}, {{"axis", axis}}); })};
}
std::vector<Term> log_softmax(Call& c) {
  return {along(c, [&](const Term& x, std::int64_t axis) { return c.apply("log_softmax", {x}, {{"axis", axis}}); })};
}
std::vector<Term> hardmax(Call& c) {
  return {along(c, [&](const Term& x, std::int64_t axis) {
    const Term best = c.apply("argmax", {x}, {{"axis", axis}});
    const std::int64_t depth = x.shape[static_cast<std::size_t>(axis)];
    const Term hot = c.apply("one_hot", {best}, {{"depth", depth}}, x.dtype);
    std::vector<std::int64_t> axes;
    for (std::int64_t k = 0, from = 0; k < x.rank(); ++k) axes.push_back(k == axis ? x.rank() - 1 : from++);
    return axis == x.rank() - 1 ? hot : c.apply("transpose", {hot}, {{"axes", axes}});
  })};
}

}  // namespace

std::vector<Row> activation_rows() {
  return {
      {"LeakyRelu", 1, 1, 1, 1, "alpha:f consumed_inputs:ints", leaky},
      {"PRelu", 1, 2, 2, 1, "consumed_inputs:ints", prelu},
      {"Elu", 1, 1, 1, 1, "alpha:f consumed_inputs:ints", exponential_linear},
      {"Selu", 1, 1, 1, 1, "alpha:f gamma:f consumed_inputs:ints", selu},
      {"Celu", 12, 1, 1, 1, "alpha:f", celu},
      {"ThresholdedRelu", 10, 1, 1, 1, "alpha:f", thresholded},
      {"Shrink", 9, 1, 1, 1, "bias:f lambd:f", shrink},
      {"HardSigmoid", 1, 1, 1, 1, "alpha:f beta:f consumed_inputs:ints", hard},
      {"HardSwish", 14, 1, 1, 1, "", hard_swish},
      {"Softsign", 1, 1, 1, 1, "", soft},
      {"Mish", 18, 1, 1, 1, "", mish},
      {"Swish", 24, 1, 1, 1, "alpha:f", swish},
      {"Gelu", 20, 1, 1, 1, "approximate:s", gelu},
      {"Softmax", 1, 1, 1, 1, "axis:i", softmax},
      {"LogSoftmax", 1, 1, 1, 1, "axis:i", log_softmax},
      {"Hardmax", 1, 1, 1, 1, "axis:i", hardmax},
  };
}

}  // namespace rml::onnx
