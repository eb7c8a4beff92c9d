// Reductions element by element: one walk over the operand. The result is a view with stride 0 along the reduced axes.
#pragma once

#include "lowering/llvm/function/walk.h"

namespace rml::codegen {

bool reduces(const Value&);
// How the operand's elements are combined. A mean combines by sum; end_reduction divides.
Lowering reduction_of(const Value&);
// The neutral element, which leaves the first element unchanged, in the register type of the dtype or as a vector of
// it.
llvm::Constant* neutral(Lowering reduction, DType, llvm::Type*);
// The view through which an element of v's operand reaches its element of the result.
Strides reduced_view(const Function&, ValueId v);

IrValue combined(Function&, Lowering, DType, IrValue a, IrValue b);
// The code before the first element is combined, and after the last; v's elements begin at `base`.
void begin_reduction(Function&, ValueId v, IrValue base);
void combine(Function&, ValueId v, IrValue element, IrValue place, Access);
void end_reduction(Function&, ValueId v, IrValue base);

}  // namespace rml::codegen
