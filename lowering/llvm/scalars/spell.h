// Writes the bodies of scalar operations (semantics/operators/spelling.h) as instructions.
#pragma once

#include <span>
#include <vector>

#include "lowering/llvm/function/function.h"
#include "semantics/operators/spelling.h"

namespace rml::codegen {

// Spells v's body. The operands are elements of this type, or vectors of them.
IrValue spell(Function&, scalar::Term (*body)(std::span<const scalar::Term>), DType, ValueId v,
              const std::vector<IrValue>& operands);
IrValue extremum(Function&, bool maximum, DType, IrValue a, IrValue b);

}  // namespace rml::codegen
