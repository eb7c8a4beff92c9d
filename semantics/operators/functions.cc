// Further elementwise operators: logarithms, angles, hyperbolic functions, bits, tests, bounds.
//
// As in elementwise.cc, a row names the scalar operation: one of scalar_functions.h, or a
// function of the C library. Such a row has the name of the C function, which generated code
// calls (runtime/runner/exports.cmake finds the names here). Outside its domain a function is
// NaN, as in the C library.
#include "semantics/operators/pointwise.h"
#include "semantics/operators/scalar_functions.h"

namespace rml {

namespace {

using namespace pointwise_rows;
using dtypes::boolean, dtypes::integer, dtypes::number, dtypes::real;

Fault evaluate_clip(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = result.shape();
  const std::array<kernels::Strides, 3> strides = {kernels::broadcast_strides(in[0]->shape(), shape),
                                                   kernels::broadcast_strides(in[1]->shape(), shape),
                                                   kernels::broadcast_strides(in[2]->shape(), shape)};
  kernels::dispatch<number>(result.dtype(), [&]<class T>(T) {
    const T *x = in[0]->as<T>(), *low = in[1]->as<T>(), *high = in[2]->as<T>();
    T* out = result.as<T>();
    kernels::walk<3>(shape, strides, [&](const kernels::Row<3>& row) {
      for (std::int64_t i = 0; i < row.count; ++i) {
        out[row.first + i] =
            scalar::Clip{}(x[row.offset[0] + i * row.stride[0]], low[row.offset[1] + i * row.stride[1]],
                           high[row.offset[2] + i * row.stride[2]]);
      }
    });
  });
  return {};
}

std::vector<OperatorInfo> exponential_rows() {
  return {
      function<real, scalar::Log1p>(
          "log1p", {ScalarOp::log1p, Effort::elementary}, "dy / (1.0 + x)",
          {"", "log(1 + x), accurate near 0; NaN if x < -1, and -inf at -1.", "log1p(0.0) -- 0"}),
      function<real, scalar::Expm1>("expm1", {ScalarOp::expm1, Effort::elementary}, "dy * exp(x)",
                                    {"", "exp(x) - 1, accurate near 0.", "expm1([0.0, -1000.0]) -- [0,-1]"}),
      function<real, scalar::Log2>(
          "log2", {ScalarOp::log2, Effort::elementary}, "dy / (x * 0.6931471805599453)",
          {"", "The logarithm to base 2; NaN if x < 0, and -inf at 0.", "log2([8.0, 0.5]) -- [3,-1]"}),
      function<real, scalar::Log10>(
          "log10", {ScalarOp::log10, Effort::elementary}, "dy / (x * 2.302585092994046)",
          {"", "The logarithm to base 10; NaN if x < 0, and -inf at 0.", "log10([100.0, 1.0]) -- [2,0]"}),
      function<real, scalar::Exp2>("exp2", {ScalarOp::exp2, Effort::elementary}, "dy * y * 0.6931471805599453",
                                   {"", "2 to the power x.", "exp2([3.0, -1.0]) -- [8,0.5]"}),
      function<real, scalar::Softplus>("softplus", {ScalarOp::softplus, Effort::elementary}, "dy * sigmoid(x)",
                                       {"Softplus", "log(1 + exp(x)), a smooth form of relu; for a large x it is x.",
                                        "softplus([1000.0, -1000.0]) -- [1000,0]"}),
      function<real, scalar::Erf>(
          "erf", {ScalarOp::erf, Effort::elementary}, "dy * 1.1283791670955126 * exp(-x * x)",
          {"Erf", "The error function, 2 / sqrt(pi) times the integral of exp(-t t) from 0 to x.",
           "erf([0.0, 10.0]) -- [0,1]"}),
      called("erfc", [](auto x) { return std::erfc(x); }, "-dy * 1.1283791670955126 * exp(-x * x)",
             {"", "1 - erf(x), accurate also if the result is small.", "erfc([0.0, -10.0]) -- [1,2]"}),
  };
}

std::vector<OperatorInfo> power_rows() {
  return {
      function<real, scalar::Reciprocal>(
          "reciprocal", {ScalarOp::other, Effort::division}, "-dy * y * y",
          {"Reciprocal", "1 / x; infinite at 0.", "reciprocal([2.0, -4.0]) -- [0.5,-0.25]"}),
      function<number, scalar::Square>("square", {ScalarOp::other, instruction}, "dy * (x + x)",
                                       {"", "x * x. Integers wrap.", "square([3, -2]) -- [9,4]"}),
      function<real, scalar::Rsqrt>(
          "rsqrt", {ScalarOp::other, Effort::root}, "-dy * 0.5 * y / x",
          {"", "1 / sqrt(x); NaN if x < 0, and infinite at 0.", "rsqrt([4.0, 0.25]) -- [0.5,2]"}),
      called("cbrt", [](auto x) { return std::cbrt(x); }, "dy / (3.0 * y * y)",
             {"", "The cube root, which is negative for negative x. The gradient at 0 is infinite.",
              "cbrt([8.0, -1.0]) -- [2,-1]"}),
  };
}

std::vector<OperatorInfo> angle_rows() {
  return {
      called("tan", [](auto x) { return std::tan(x); }, "dy * (1.0 + y * y)",
             {"Tan", "The tangent; x is in radians.", "tan(0.0) -- 0"}),
      called("asin", [](auto x) { return std::asin(x); }, "dy / sqrt((1.0 - x) * (1.0 + x))",
             {"Asin", "The angle whose sine is x; NaN if x is outside [-1, 1].", "asin(0.0) -- 0"}),
      called("acos", [](auto x) { return std::acos(x); }, "-dy / sqrt((1.0 - x) * (1.0 + x))",
             {"Acos", "The angle whose cosine is x; NaN if x is outside [-1, 1].", "acos(1.0) -- 0"}),
      called("atan", [](auto x) { return std::atan(x); }, "dy / (1.0 + x * x)",
             {"Atan", "The angle whose tangent is x, between -pi / 2 and pi / 2.", "atan(0.0) -- 0"}),
      called("sinh", [](auto x) { return std::sinh(x); }, "dy * cosh(x)",
             {"Sinh", "The hyperbolic sine.", "sinh(0.0) -- 0"}),
      called("cosh", [](auto x) { return std::cosh(x); }, "dy * sinh(x)",
             {"Cosh", "The hyperbolic cosine.", "cosh(0.0) -- 1"}),
      called("asinh", [](auto x) { return std::asinh(x); }, "dy / hypot(x, 1.0)",
             {"Asinh", "The number whose hyperbolic sine is x.", "asinh(0.0) -- 0"}),
      called("acosh", [](auto x) { return std::acosh(x); }, "dy / (sqrt(x - 1.0) * sqrt(x + 1.0))",
             {"Acosh", "The non-negative number whose hyperbolic cosine is x; NaN if x < 1.", "acosh(1.0) -- 0"}),
      called(
          "atanh", [](auto x) { return std::atanh(x); }, "dy / ((1.0 - x) * (1.0 + x))",
          {"Atanh", "The number whose hyperbolic tangent is x; NaN if x is outside [-1, 1], and infinite at -1 and 1.",
           "atanh(0.0) -- 0"}),
      called("atan2", [](auto a, auto b) { return std::atan2(a, b); }, "dy * (b / hypot(a, b)) / hypot(a, b)",
             "-dy * (a / hypot(a, b)) / hypot(a, b)",
             {"",
              "The angle of the point with the horizontal coordinate b and the vertical coordinate a. The gradient at "
              "the origin is NaN.",
              "atan2([0.0, -0.0], 1.0) -- [0,-0]"}),
      called("hypot", [](auto a, auto b) { return std::hypot(a, b); },
             "select(y == 0.0, zeros_like(dy), dy * (a / select(y == 0.0, ones_like(y), y)))",
             "select(y == 0.0, zeros_like(dy), dy * (b / select(y == 0.0, ones_like(y), y)))",
             {"", "sqrt(a a + b b), without overflow of the squares. The gradient at the origin is 0.",
              "hypot(3.0, 4.0) -- 5"}),
  };
}

template <class F>
OperatorInfo is(std::string_view name, RowText text) {
  return spelled<F, 0>(pointwise(name, {ScalarOp::other}, {operand("x", real)}, exactly(DType::boolean), test<real, F>,
                                 {boolean_result}, text));
}

std::vector<OperatorInfo> sign_rows() {
  return {
      function<real, scalar::Trunc>("trunc", {ScalarOp::trunc}, jumps,
                                    {"", "x without its fractional part, as a float.", "trunc([1.5, -1.5]) -- [1,-1]"}),
      arithmetic<real, scalar::CopySign>("copysign", {ScalarOp::other},
                                         "dy * stop_gradient(sign(a) * copysign(1.0, b))", jumps,
                                         {"",
                                          "The absolute value of a with the sign of b, also if b is a zero. If b is "
                                          "NaN, the result is the absolute value of a. The gradient at a = 0 is 0.",
                                          "copysign([1.0, -2.0], -3.0) -- [-1,-2]"}),
      divide<scalar::FloorMod>("floor_mod", {ScalarOp::other, Effort::remainder}, "dy",
                               "-dy * stop_gradient((a - y) / b)",
                               {"Mod",
                                "The remainder of the division a / b that rounds down, with the sign of b, as in "
                                "Python; `mod` has the sign of a. An integer zero divisor stops the run.",
                                "floor_mod([-7, 7], 3) -- [2,1]"}),
      is<scalar::IsNan>("isnan", {"IsNaN", "True if x is NaN.", "isnan([1.0, sqrt(-1.0)]) -- [F,T]"}),
      is<scalar::IsInf>("isinf", {"IsInf", "True if x is inf or -inf.", "isinf([1.0, log(0.0)]) -- [F,T]"}),
      is<scalar::IsFinite>("isfinite",
                           {"", "True if x is neither infinite nor NaN.", "isfinite([1.0, log(0.0)]) -- [T,F]"}),
      spelled<scalar::Clip, 0, 1, 2>(
          pointwise("clip", {ScalarOp::other}, {operand("x", number), operand("low", number), operand("high", number)},
                    same(number), evaluate_clip,
                    {"select(logical_and(le(low, x), le(x, high)), dy, zeros_like(dy))",
                     "select(logical_and(x < low, low < high), dy, zeros_like(dy))",
                     "select(logical_or(x > high, logical_and(x < low, le(high, low))), dy, zeros_like(dy))"},
                    {"Clip",
                     "x limited to the range from low to high: minimum(maximum(x, low), high). It is `high` if low > "
                     "high, and NaN if an operand is NaN. At a bound, x gets the gradient.",
                     "clip([1, 5, 9], 2, 6) -- [2,5,6]"})),
  };
}

std::vector<OperatorInfo> bit_rows() {
  constexpr std::string_view none = "none: it is an integer";
  return {
      commutes(arithmetic<boolean, scalar::Xor>(
          "logical_xor", {ScalarOp::bit_xor, instruction}, boolean_operand, boolean_operand,
          {"Xor", "True if exactly one of a and b is true.", "logical_xor([true, false], true) -- [F,T]"})),
      commutes(arithmetic<integer, scalar::BitAnd>(
          "bitwise_and", {ScalarOp::bit_and, instruction}, none, none,
          {"BitwiseAnd", "The bits that are set in both a and b.", "bitwise_and(12, 10) -- 8"})),
      commutes(arithmetic<integer, scalar::BitOr>(
          "bitwise_or", {ScalarOp::bit_or, instruction}, none, none,
          {"BitwiseOr", "The bits that are set in a, in b, or in both.", "bitwise_or(12, 10) -- 14"})),
      commutes(arithmetic<integer, scalar::Xor>(
          "bitwise_xor", {ScalarOp::bit_xor, instruction}, none, none,
          {"BitwiseXor", "The bits that are set in exactly one of a and b.", "bitwise_xor(12, 10) -- 6"})),
      function<integer, scalar::BitNot>("bitwise_not", {ScalarOp::bit_not, instruction}, none,
                                        {"BitwiseNot", "The bits of x, inverted.", "bitwise_not(12) -- -13"}),
      arithmetic<integer, scalar::LeftShift>("left_shift", {ScalarOp::left_shift}, none, none,
                                             {"BitShift",
                                              "The bits of a shifted left by b, filled with zeros; 0 if b is negative "
                                              "or not less than the number of bits.",
                                              "left_shift(3, [2, 40]) -- [12,0]"}),
      arithmetic<integer, scalar::RightShift>(
          "right_shift", {ScalarOp::right_shift}, none, none,
          {"BitShift",
           "The bits of a shifted right by b, filled with the sign of a. If b is negative or not less than the number "
           "of bits, the result is 0, or -1 if a is negative.",
           "right_shift([12, -3], 1) -- [6,-2]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> function_operators() {
  std::vector<OperatorInfo> rows;
  for (const auto& family : {exponential_rows, power_rows, angle_rows, sign_rows, bit_rows})
    for (OperatorInfo& info : family()) rows.push_back(std::move(info));
  return rows;
}

}  // namespace rml
