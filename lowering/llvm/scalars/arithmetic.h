// Arithmetic on scalars and on vectors of them, where an operation needs several LLVM instructions, or different ones
// for floats and integers.
#pragma once

#include <string_view>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

IrValue add(Function&, DType, IrValue a, IrValue b);
IrValue multiply(Function&, DType, IrValue a, IrValue b);
// Emits a * b + sum, contracted to one instruction unless strict_math forbids it.
IrValue multiply_add(Function&, DType, IrValue a, IrValue b, IrValue sum);
// Division of integers is checked: division by zero is a fault of v.
IrValue division(Function&, bool remainder, DType, ValueId v, IrValue a, IrValue b);
IrValue integer_power(Function&, DType, IrValue a, IrValue b);
IrValue comparison(Function&, ScalarOp, DType, IrValue a, IrValue b);
IrValue convert(Function&, DType to, DType from, IrValue);
// Emits a call of a function of the C library.
IrValue library(Function&, std::string_view name, DType, const std::vector<IrValue>& operands);

}  // namespace rml::codegen
