// The element types that the operators of ONNX accept and return, in the exported operator set.
//
// A node with other types would make the whole model invalid, so the writer checks every node
// with this table. The types are those of ONNX's schemas. A test compares the exported models
// with a table that is generated from the schemas.
#pragma once

#include <string_view>

#include "semantics/values/type.h"

namespace rml::onnx {

// One letter for each operand and each result; the last letter also applies to all further
// operands. T and U stand for one type each in the whole node. b is bool, f is f32, l is i64, i
// is i32 or i64. * is any type, given by an attribute.
struct OperatorTypes {
  std::string_view op;
  std::string_view operands, results;
  DTypeSet variable;   // the types allowed for T
  DTypeSet other = 0;  // the types allowed for U
};

// Returns null if the writer does not use this operator.
const OperatorTypes* types_of(std::string_view op);

}  // namespace rml::onnx
