// Shape rules and helpers that the families of the operator table share.
//
// A rule returns a valid shape (extents ≥ 0, rank and element count within bounds) or an error in
// the user's words. The implementations are in geometry.cc.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

// The extents as a shape, or the reason why they are none.
ShapeResult checked_shape(std::vector<std::int64_t> extents);

// As checked_shape, for a tensor stored in the program as a constant, which may have fewer elements.
ShapeResult checked_constant(std::vector<std::int64_t> extents);

ShapeResult broadcast_operands(const Application&);  // the broadcast of all operands, by NumPy's rule
ShapeResult shape_attribute(const Application&);     // the shape that the first attribute gives
ShapeResult same_shape(const Application&);          // the shape of the first operand

// The error in an attribute that must be 0 or 1, or an empty string.
std::string flag_error(const Attribute& attribute, std::string_view name);
std::string axis_error(std::int64_t axis, std::size_t rank);
std::string axes_error(const Attribute& axis, std::size_t rank);

// Parameters, in the form in which rows of the operator table list them.
inline OperatorParameter operand(std::string_view name, DTypeSet allowed, int variable = 0) {
  return {name, ParameterKind::operand, {variable, allowed}, false, {}};
}
inline OperatorParameter variadic(std::string_view name, DTypeSet allowed, int variable = 0) {
  return {name, ParameterKind::operand, {variable, allowed}, true, {}};
}
inline OperatorParameter integers(std::string_view name, std::string_view default_value = {}) {
  return {name, ParameterKind::integers, {}, false, default_value};
}
inline OperatorParameter number_attribute(std::string_view name, std::string_view default_value) {
  return {name, ParameterKind::number, {}, false, default_value};
}
inline OperatorParameter text_attribute(std::string_view name, std::string_view default_value = {}) {
  return {name, ParameterKind::text, {}, false, default_value};
}
inline DTypeSlot same(DTypeSet allowed, int variable = 0) { return {variable, allowed}; }
inline DTypeSlot exactly(DType dtype) { return {-1, bit(dtype)}; }

struct RowText {
  std::string_view onnx, doc, example;
};
OperatorInfo row(std::string_view name, std::vector<OperatorParameter> parameters, DTypeSlot result, ShapeRule shape,
                 Evaluate evaluate, Lowering lowering, std::vector<std::string_view> vjp, RowText text);

// Calls a kernel by the kernel calling convention; `scratch` as in OperatorInfo.
Fault call_kernel(rml_kernel*, std::int64_t (*scratch)(const Application&), const Application&,
                  std::span<const Tensor* const> operands, Tensor& result);

// A row that is evaluated and lowered by one kernel, given with the name of its C symbol:
// kernel_row<rml_kernel_sort, sort_scratch>("sort", "rml_kernel_sort", …).
template <rml_kernel* kernel, std::int64_t (*scratch)(const Application&) = nullptr>
OperatorInfo kernel_row(std::string_view name, std::string_view symbol, std::vector<OperatorParameter> parameters,
                        DTypeSlot result, ShapeRule shape, std::vector<std::string_view> vjp, RowText text) {
  constexpr Evaluate evaluate = [](const Application& app, const EvaluationContext&,
                                   std::span<const Tensor* const> operands,
                                   Tensor& result) { return call_kernel(kernel, scratch, app, operands, result); };
  OperatorInfo info = row(name, std::move(parameters), result, shape, evaluate, Lowering::kernel, std::move(vjp), text);
  info.kernel = symbol;
  info.scratch = scratch;
  return info;
}

inline OperatorInfo of_form(WindowForm form, OperatorInfo info) {
  info.window = form;
  return info;
}

}  // namespace rml
