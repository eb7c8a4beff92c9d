// Helpers to write rows of elementwise operators: evaluation by a scalar function object, and the
// usual parameter lists.
#pragma once

#include "runtime/base/rmlrt.h"
#include "semantics/operators/kernels.h"
#include "semantics/operators/rules.h"
#include "semantics/operators/spelling.h"

namespace rml::pointwise_rows {

using Operands = std::span<const Tensor* const>;

template <DTypeSet Allowed, class F>
Fault unary(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<Allowed>(in[0]->dtype(), [&]<class T>(T) { kernels::map<T, T>(result, *in[0], F{}); });
  return {};
}

template <DTypeSet Allowed, class F>
Fault binary(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<Allowed>(in[0]->dtype(), [&]<class T>(T) { kernels::map<T, T>(result, *in[0], *in[1], F{}); });
  return {};
}

template <DTypeSet Allowed, class F>
Fault comparison(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<Allowed>(in[0]->dtype(), [&]<class T>(T) { kernels::map<bool, T>(result, *in[0], *in[1], F{}); });
  return {};
}

// Evaluates a predicate with one operand.
template <DTypeSet Allowed, class F>
Fault test(const Application&, const EvaluationContext&, Operands in, Tensor& result) {
  kernels::dispatch<Allowed>(in[0]->dtype(), [&]<class T>(T) { kernels::map<bool, T>(result, *in[0], F{}); });
  return {};
}

// If there is a result at all, every element of b is used, so a zero anywhere is a fault.
template <class F>
Fault division(const Application& app, const EvaluationContext& context, Operands in, Tensor& result) {
  bool zero = false;
  if (result.elements() > 0) {
    kernels::dispatch<dtypes::number>(in[1]->dtype(), [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>) {
        const T* b = in[1]->as<T>();
        for (std::int64_t i = 0, n = in[1]->elements(); i < n; ++i) zero |= b[i] == T(0);
      }
    });
  }
  if (zero) return {RML_FAULT_DIVISION, 0, 0};
  return binary<dtypes::number, F>(app, context, in, result);
}

// The columns of a row for a scalar operation.
struct Scalar {
  ScalarOp op;
  Effort effort = Effort::simple;
  Vectors vectors = Vectors::of_none;
  std::string_view function = {};  // name in the C library
};
inline constexpr auto instruction = Effort::instruction;

inline OperatorInfo pointwise(std::string_view name, Scalar scalar, std::vector<OperatorParameter> parameters,
                              DTypeSlot result, Evaluate evaluate, std::vector<std::string_view> vjp, RowText text) {
  OperatorInfo info = row(name, std::move(parameters), result, broadcast_operands, evaluate, Lowering::elementwise,
                          std::move(vjp), text);
  info.scalar = scalar.op;
  info.effort = scalar.effort;
  info.vectors = scalar.vectors;
  info.function = scalar.function;
  return info;
}

inline constexpr std::string_view jumps = "none: the result is constant between jumps";
inline constexpr std::string_view boolean_result = "none: the result is Boolean";
inline constexpr std::string_view boolean_operand = "none: it is Boolean";

// Adds the body for code generation to a row. K... numbers the operands.
template <class F, std::size_t... K>
OperatorInfo spelled(OperatorInfo info) {
  info.body = [](std::span<const scalar::Term> x) -> scalar::Term { return F{}(x[K]...); };
  return info;
}

// A row for (x) -> y, or for (a, b) -> y, over one dtype variable.
template <DTypeSet Allowed, class F>
OperatorInfo function(std::string_view name, Scalar scalar, std::string_view vjp, RowText text) {
  return spelled<F, 0>(pointwise(name, scalar, {operand("x", Allowed)}, same(Allowed), unary<Allowed, F>, {vjp}, text));
}

template <DTypeSet Allowed, class F>
OperatorInfo arithmetic(std::string_view name, Scalar scalar, std::string_view of_a, std::string_view of_b,
                        RowText text) {
  return spelled<F, 0, 1>(pointwise(name, scalar, {operand("a", Allowed), operand("b", Allowed)}, same(Allowed),
                                    binary<Allowed, F>, {of_a, of_b}, text));
}

// A function of the C library with one operand or two; `name` is its name there.
template <class F>
OperatorInfo called(std::string_view name, F, std::string_view vjp, RowText text) {
  return pointwise(name, {ScalarOp::other, Effort::call, Vectors::of_none, name}, {operand("x", dtypes::real)},
                   same(dtypes::real), unary<dtypes::real, F>, {vjp}, text);
}
template <class F>
OperatorInfo called(std::string_view name, F, std::string_view of_a, std::string_view of_b, RowText text) {
  return pointwise(name, {ScalarOp::other, Effort::call, Vectors::of_none, name},
                   {operand("a", dtypes::real), operand("b", dtypes::real)}, same(dtypes::real),
                   binary<dtypes::real, F>, {of_a, of_b}, text);
}

// Integers are divided only if the divisor is not 0.
template <class F>
OperatorInfo divide(std::string_view name, Scalar scalar, std::string_view of_a, std::string_view of_b, RowText text) {
  OperatorInfo info = arithmetic<dtypes::number, F>(name, scalar, of_a, of_b, text);
  info.evaluate = division<F>;
  info.can_fail = true;
  info.failure = "division by zero";
  return info;
}

inline OperatorInfo commutes(OperatorInfo info) {
  info.commutative = true;
  return info;
}

// A row for a comparison of two operands.
template <DTypeSet Allowed, class F>
OperatorInfo compare(std::string_view name, Scalar scalar, RowText text) {
  return spelled<F, 0, 1>(pointwise(name, scalar, {operand("a", Allowed), operand("b", Allowed)},
                                    exactly(DType::boolean), comparison<Allowed, F>, {boolean_result, boolean_result},
                                    text));
}

}  // namespace rml::pointwise_rows
