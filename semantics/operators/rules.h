// What the families of the operator table share: shape rules and the writing of rows.
//
// Rules return a shape that exists (extents ≥ 0, rank and element count within bounds) or
// an error in the user's words. Implemented in geometry.cc.
#pragma once

#include "semantics/operators/operator.h"

namespace rml {

// The extents as a shape, or why they are none.
ShapeResult checked_shape(std::vector<std::int64_t> extents);

ShapeResult broadcast_operands(const Application&);  // all operands, NumPy's rule
ShapeResult shape_attribute(const Application&);     // the first attribute
ShapeResult same_shape(const Application&);          // that of the first operand

std::string axis_error(std::int64_t axis, std::size_t rank);
std::string axes_error(const Attribute& axis, std::size_t rank);

// Parameters, in the words of the rows.
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
inline DTypeSlot same(DTypeSet allowed, int variable = 0) { return {variable, allowed}; }
inline DTypeSlot exactly(DType dtype) { return {-1, bit(dtype)}; }

struct RowText {
  std::string_view onnx, doc, example;
};
OperatorInfo row(std::string_view name, std::vector<OperatorParameter> parameters, DTypeSlot result, ShapeRule shape,
                 Evaluate evaluate, Lowering lowering, std::vector<std::string_view> vjp, RowText text);

}  // namespace rml
