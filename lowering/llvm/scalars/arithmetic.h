// Arithmetic on scalars, and on vectors of them: what is more than one of LLVM's instructions, or another one for
// floats.
#pragma once

#include <string_view>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

IrValue add(Function&, DType, IrValue a, IrValue b);
IrValue multiply(Function&, DType, IrValue a, IrValue b);
// a b + sum; contracted, unless strict_math forbids it.
IrValue multiply_add(Function&, DType, IrValue a, IrValue b, IrValue sum);
// Of integers: checked, a fault of v.
IrValue division(Function&, bool remainder, DType, ValueId v, IrValue a, IrValue b);
IrValue integer_power(Function&, DType, IrValue a, IrValue b);
IrValue comparison(Function&, ScalarOp, DType, IrValue a, IrValue b);
IrValue convert(Function&, DType to, DType from, IrValue);
// A function of the C library, called as it is.
IrValue library(Function&, std::string_view name, DType, const std::vector<IrValue>& operands);

}  // namespace rml::codegen
