// Imports products of matrices.
#include "onnx/call.h"

namespace rml::onnx {

namespace {

std::vector<Term> matmul(Call& c) { return {c.apply("matmul", {c.in(0), c.in(1)})}; }

Term turned(const Call& c, const Term& x, bool turn) {
  if (x.rank() != 2) throw ModelError{"", "it takes matrices, not " + to_string(x.shape)};
  return turn ? c.apply("transpose", {x}) : x;
}

std::vector<Term> gemm(Call& c) {
  Term y = c.apply("matmul",
                   {turned(c, c.in(0), c.integer("transA", 0) != 0), turned(c, c.in(1), c.integer("transB", 0) != 0)});
  const double alpha = c.number("alpha", 1), beta = c.number("beta", 1);
  if (alpha != 1) y = c.apply("mul", {c.b.scalar(y.dtype, alpha), y});
  if (!c.has(2) || beta == 0) return {y};
  const Term bias = beta == 1 ? c.in(2) : c.apply("mul", {c.b.scalar(y.dtype, beta), c.in(2)});
  const auto both = broadcast(y.shape, bias.shape);
  if (!both || *both != y.shape)
    throw ModelError{"", to_string(bias.shape) + " does not broadcast to " + to_string(y.shape)};
  return {c.apply("add", {y, bias})};
}

std::vector<Term> einsum(Call& c) {
  return {c.apply("einsum", c.all_inputs(), {{"subscripts", c.text("equation", "")}})};
}

std::vector<Term> det(Call& c) { return {c.apply("det", {c.in(0)})}; }

}  // namespace

std::vector<Row> product_rows() {
  return {
      {"MatMul", 1, 2, 2, 1, "", matmul},
      {"Gemm", 1, 2, 3, 1, "alpha:f beta:f transA:i transB:i broadcast:i", gemm},
      {"Einsum", 12, 1, -1, 1, "equation:s!", einsum},
      {"Det", 11, 1, 1, 1, "", det},
  };
}

}  // namespace rml::onnx
