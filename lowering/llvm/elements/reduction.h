// Reductions, element by element: one walk over the operand, the result a view with stride 0 along the axes that
// are reduced.
#pragma once

#include "lowering/llvm/function/walk.h"

namespace rml::codegen {

bool reduces(const Value&);
// What is computed of the operand's elements; then, of a mean, the quotient.
Lowering reduction_of(const Value&);
// What leaves the first element as it is. The type is that of registers, or vectors of it.
llvm::Constant* neutral(Lowering reduction, DType, llvm::Type*);
// Where an element of v's operand goes.
Strides reduced_view(const Function&, ValueId v);

IrValue combined(Function&, Lowering, DType, IrValue a, IrValue b);
// v's elements lie from `base` on: before the first element is combined, and after the last.
void begin_reduction(Function&, ValueId v, IrValue base);
void combine(Function&, ValueId v, IrValue element, IrValue place, Access);
void end_reduction(Function&, ValueId v, IrValue base);

}  // namespace rml::codegen
