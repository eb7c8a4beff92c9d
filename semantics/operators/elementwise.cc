// Elementwise operators: arithmetic, comparison, logic, functions, conversion, selection.
//
// Operands broadcast as in NumPy and share one dtype variable, except where a row says otherwise.
// A row names the scalar operation (scalar.h) and its properties for code generation; the
// reference engine and generated code apply the operation to each element. In the gradients of
// minimum and maximum, a tie gives half to each operand. Piecewise constant operators have no
// gradient.
#include "semantics/operators/pointwise.h"
#include "semantics/operators/scalar.h"

namespace rml {

namespace {

using namespace pointwise_rows;

Fault evaluate_cast(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = result.shape();
  kernels::dispatch<dtypes::element>(in[0]->dtype(), [&]<class From>(From) {
    kernels::dispatch<dtypes::element>(result.dtype(), [&]<class To>(To) {
      const From* x = in[0]->as<From>();
      To* out = result.as<To>();
      kernels::walk<1>(shape, {kernels::broadcast_strides(in[0]->shape(), shape)}, [&](const kernels::Row<1>& row) {
        for (std::int64_t i = 0; i < row.count; ++i) {
          out[row.first + i] = scalar::convert<To>(x[row.offset[0] + i * row.stride[0]]);
        }
      });
    });
  });
  return {};
}

Fault evaluate_select(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  const Shape& shape = result.shape();
  const std::array<kernels::Strides, 3> strides = {kernels::broadcast_strides(in[0]->shape(), shape),
                                                   kernels::broadcast_strides(in[1]->shape(), shape),
                                                   kernels::broadcast_strides(in[2]->shape(), shape)};
  kernels::dispatch<dtypes::element>(result.dtype(), [&]<class T>(T) {
    const bool* c = in[0]->as<bool>();
    const T *a = in[1]->as<T>(), *b = in[2]->as<T>();
    T* out = result.as<T>();
    kernels::walk<3>(shape, strides, [&](const kernels::Row<3>& row) {
      for (std::int64_t i = 0; i < row.count; ++i) {
        out[row.first + i] = c[row.offset[0] + i * row.stride[0]] ? a[row.offset[1] + i * row.stride[1]]
                                                                  : b[row.offset[2] + i * row.stride[2]];
      }
    });
  });
  return {};
}

using dtypes::element, dtypes::number, dtypes::real;

std::vector<OperatorInfo> arithmetic_rows() {
  return {
      commutes(
          arithmetic<number, scalar::Add>("add", {ScalarOp::add, instruction, Vectors::of_all}, "dy", "dy",
                                          {"Add", "a + b, elementwise. Integers wrap.", "add([1, 2], 3) -- [4,5]"})),
      arithmetic<number, scalar::Sub>("sub", {ScalarOp::sub, instruction, Vectors::of_all}, "dy", "-dy",
                                      {"Sub", "a - b, elementwise. Integers wrap.", "sub([1, 2], 3) -- [-2,-1]"}),
      commutes(arithmetic<number, scalar::Mul>(
          "mul", {ScalarOp::mul, instruction, Vectors::of_all}, "dy * b", "dy * a",
          {"Mul", "a * b, elementwise. Integers wrap.", "mul([1.5, 2.0], 2.0) -- [3,4]"})),
      divide<scalar::Div>("div", {ScalarOp::div, Effort::division, Vectors::of_floats}, "dy / b", "-dy * y / b",
                          {"Div",
                           "a / b, elementwise. Integer division truncates toward zero, the smallest integer / -1 "
                           "wraps, and an integer zero divisor stops the run.",
                           "div(-7, 2) -- -3"}),
      divide<scalar::Mod>("mod", {ScalarOp::mod, Effort::remainder}, "dy", "-dy * stop_gradient((a - y) / b)",
                          {"Mod",
                           "a % b, elementwise: the remainder of the truncating division, with the sign of a (fmod for "
                           "floats). An integer zero divisor stops the run.",
                           "mod(-7, 2) -- -1"}),
      function<number, scalar::Negate>("negate", {ScalarOp::negate, instruction, Vectors::of_all}, "-dy",
                                       {"Neg", "-x, elementwise. Integers wrap.", "negate([1, -2]) -- [-1,2]"}),
      // minimum and maximum do not commute: for -0 and 0, and for two NaNs, they return the first operand.
      arithmetic<number, scalar::Minimum>(
          "minimum", {ScalarOp::other, instruction, Vectors::of_all},
          "select(a < b, dy, select(a == b, dy * 0.5, zeros_like(dy)))",
          "select(b < a, dy, select(a == b, dy * 0.5, zeros_like(dy)))",
          {"Min", "The smaller of a and b, elementwise; NaN if either is NaN, and a if they are equal.",
           "minimum([1, 5], 3) -- [1,3]"}),
      arithmetic<number, scalar::Maximum>(
          "maximum", {ScalarOp::other, instruction, Vectors::of_all},
          "select(a > b, dy, select(a == b, dy * 0.5, zeros_like(dy)))",
          "select(b > a, dy, select(a == b, dy * 0.5, zeros_like(dy)))",
          {"Max", "The larger of a and b, elementwise; NaN if either is NaN, and a if they are equal.",
           "maximum([1, 5], 3) -- [3,5]"}),
      arithmetic<number, scalar::Pow>("pow", {ScalarOp::pow, Effort::power},
                                      "dy * b * pow(select(b == 0.0, select(a == 0.0, ones_like(a), a), a), b - 1.0)",
                                      "select(a > 0.0, dy * y * log(select(a > 0.0, a, ones_like(a))), zeros_like(dy))",
                                      {"Pow",
                                       "a to the power b, elementwise. Integers wrap, and a negative exponent gives 0 "
                                       "unless a is 1 or -1. The gradient with respect to b is 0 if a <= 0.",
                                       "pow([2, 3], 3) -- [8,27]"}),
  };
}

std::vector<OperatorInfo> comparison_rows() {
  return {
      commutes(compare<element, scalar::Eq>(
          "eq", {ScalarOp::eq, instruction, Vectors::of_all},
          {"Equal", "a == b, elementwise, also for Booleans; false if either is NaN.", "eq([1, 2], 2) -- [F,T]"})),
      commutes(compare<element, scalar::Ne>(
          "ne", {ScalarOp::ne, instruction, Vectors::of_all},
          {"", "a != b, elementwise, also for Booleans; true if either is NaN.", "ne([1, 2], 2) -- [T,F]"})),
      compare<dtypes::ordered, scalar::Lt>(
          "lt", {ScalarOp::lt, instruction, Vectors::of_all},
          {"Less", "a < b, elementwise; false if either is NaN.", "lt([1, 2], 2) -- [T,F]"}),
      compare<dtypes::ordered, scalar::Le>(
          "le", {ScalarOp::le, instruction, Vectors::of_all},
          {"LessOrEqual", "a <= b, elementwise; false if either is NaN.", "le([2, 3], 2) -- [T,F]"}),
      compare<dtypes::ordered, scalar::Gt>(
          "gt", {ScalarOp::gt, instruction, Vectors::of_all},
          {"Greater", "a > b, elementwise; false if either is NaN.", "gt([2, 3], 2) -- [F,T]"}),
      compare<dtypes::ordered, scalar::Ge>(
          "ge", {ScalarOp::ge, instruction, Vectors::of_all},
          {"GreaterOrEqual", "a >= b, elementwise; false if either is NaN.", "ge([1, 2], 2) -- [F,T]"}),
      commutes(
          compare<dtypes::boolean, scalar::And>("logical_and", {ScalarOp::logical_and, instruction, Vectors::of_all},
                                                {"And", "a and b, elementwise; both operands are always evaluated.",
                                                 "logical_and([true, false], true) -- [T,F]"})),
      commutes(compare<dtypes::boolean, scalar::Or>("logical_or", {ScalarOp::logical_or, instruction, Vectors::of_all},
                                                    {"Or", "a or b, elementwise; both operands are always evaluated.",
                                                     "logical_or([true, false], false) -- [T,F]"})),
      function<dtypes::boolean, scalar::Not>("logical_not", {ScalarOp::logical_not, instruction, Vectors::of_all},
                                             boolean_result,
                                             {"Not", "not x, elementwise.", "logical_not([true, false]) -- [F,T]"}),
  };
}

std::vector<OperatorInfo> function_rows() {
  return {
      function<number, scalar::Abs>(
          "abs", {ScalarOp::abs, instruction, Vectors::of_floats}, "dy * stop_gradient(sign(x))",
          {"Abs", "The absolute value. The smallest integer wraps to itself.", "abs([-2, 3]) -- [2,3]"}),
      function<number, scalar::Sign>(
          "sign", {ScalarOp::sign}, jumps,
          {"Sign", "The sign of x: -1, 0 or 1; NaN for NaN.", "sign([-2.5, 0.0, 3.0]) -- [-1,0,1]"}),
      function<real, scalar::Floor>(
          "floor", {ScalarOp::floor}, jumps,
          {"Floor", "The largest integer that is not greater than x, as a float.", "floor([1.5, -1.5]) -- [1,-2]"}),
      function<real, scalar::Ceil>(
          "ceil", {ScalarOp::ceil}, jumps,
          {"Ceil", "The smallest integer that is not less than x, as a float.", "ceil([1.5, -1.5]) -- [2,-1]"}),
      function<real, scalar::Round>(
          "round", {ScalarOp::round}, jumps,
          {"Round", "The nearest integer, as a float; of two equally near integers, the even one.",
           "round([0.5, 1.5, 2.5]) -- [0,2,2]"}),
      function<real, scalar::Exp>("exp", {ScalarOp::exp, Effort::elementary}, "dy * y",
                                  {"Exp", "e to the power x.", "exp(0.0) -- 1"}),
      function<real, scalar::Log>("log", {ScalarOp::log, Effort::elementary}, "dy / x",
                                  {"Log", "The natural logarithm; NaN if x < 0, and -inf at 0.", "log(1.0) -- 0"}),
      function<real, scalar::Sqrt>(
          "sqrt", {ScalarOp::sqrt, Effort::root, Vectors::of_floats}, "dy * 0.5 / y",
          {"Sqrt", "The square root; NaN if x < 0. The gradient at 0 is infinite.", "sqrt([4.0, 2.25]) -- [2,1.5]"}),
      function<real, scalar::Sin>("sin", {ScalarOp::sin, Effort::circular}, "dy * cos(x)",
                                  {"Sin", "The sine; x is in radians.", "sin(0.0) -- 0"}),
      function<real, scalar::Cos>("cos", {ScalarOp::cos, Effort::circular}, "-dy * sin(x)",
                                  {"Cos", "The cosine; x is in radians.", "cos(0.0) -- 1"}),
      function<real, scalar::Tanh>("tanh", {ScalarOp::tanh, Effort::elementary}, "dy * (1.0 - y * y)",
                                   {"Tanh", "The hyperbolic tangent.", "tanh([0.0, 100.0]) -- [0,1]"}),
      function<real, scalar::Sigmoid>("sigmoid", {ScalarOp::sigmoid, Effort::elementary}, "dy * y * (1.0 - y)",
                                      {"Sigmoid", "1 / (1 + exp(-x)).", "sigmoid([0.0, 100.0]) -- [0.5,1]"}),
      function<number, scalar::Relu>(
          "relu", {ScalarOp::other, instruction, Vectors::of_all}, "select(x > 0.0, dy, zeros_like(dy))",
          {"Relu", "x if x > 0, else 0; NaN for NaN. The gradient at 0 is 0.", "relu([-1.5, 2.5]) -- [0,2.5]"}),
  };
}

}  // namespace

std::vector<OperatorInfo> elementwise_operators() {
  std::vector<OperatorInfo> rows = arithmetic_rows();
  for (OperatorInfo& info : comparison_rows()) rows.push_back(std::move(info));
  for (OperatorInfo& info : function_rows()) rows.push_back(std::move(info));
  rows.push_back(pointwise("cast", {ScalarOp::cast},
                           {{"dtype", ParameterKind::dtype, {}, false, {}}, operand("x", element)}, same(element, 1),
                           evaluate_cast, {"cast_like(dy, x)"},
                           {"Cast",
                            "x converted to the dtype. A float to an integer type truncates toward zero and saturates "
                            "at the limits of the type, and NaN gives 0. An integer to a narrower type keeps the low "
                            "bits. A number to bool is x != 0, and a bool to a number type is 0 or 1.",
                            "cast(i32, [2.7, -2.7]) -- [2,-2]"}));
  rows.push_back(pointwise("cast_like", {ScalarOp::cast}, {operand("x", element), operand("like", element, 1)},
                           same(element, 1), evaluate_cast,
                           {"cast_like(dy, x)", "none: only its dtype and shape are read"},
                           {"CastLike", "x converted to the dtype of `like`, and broadcast against its shape.",
                            "cast_like([1, 2], 0.5) -- [1,2]"}));
  rows.push_back(spelled<scalar::Select, 0, 1, 2>(
      pointwise("select", {ScalarOp::select, instruction, Vectors::of_all},
                {operand("c", dtypes::boolean, 1), operand("a", element), operand("b", element)}, same(element),
                evaluate_select, {boolean_operand, "select(c, dy, zeros_like(dy))", "select(c, zeros_like(dy), dy)"},
                {"Where", "a where c is true, else b, elementwise. Both are evaluated; `if` evaluates only one.",
                 "select([true, false], [1, 2], 0) -- [1,0]"})));
  rows.back().aliases = {"where"};
  rows.back().parameters[0].dtype = exactly(DType::boolean);
  return rows;
}

}  // namespace rml
