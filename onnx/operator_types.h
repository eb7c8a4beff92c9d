// Which element types the operators of ONNX take and yield, at the operator set that is exported.
//
// A node of other types makes the whole model invalid, so the writer holds every node to this table. The types are
// those of ONNX's schemas; a test compares the models that are written with a table made of the schemas themselves.
#pragma once

#include <string_view>

#include "semantics/values/type.h"

namespace rml::onnx {

// One letter for each operand and each result; the last operand's letter stands for all further ones. T and U are one
// type each for the whole node, b is bool, f is f32, l is i64, i is i32 or i64; * is any type, said by an attribute.
struct OperatorTypes {
  std::string_view op;
  std::string_view operands, results;
  DTypeSet variable;   // what T may be
  DTypeSet other = 0;  // what U may be
};

// Null: the writer has no such operator.
const OperatorTypes* types_of(std::string_view op);

}  // namespace rml::onnx
