// Operands of units: whether they are there, and taking them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Branches to `absent` unless all conditions hold; goes on in a new block where they do.
void require(Function&, const std::vector<std::pair<ValueId, bool>>& when, llvm::BasicBlock* absent,
             const std::function<IrValue(ValueId)>& value_of);
// i1: every operand that is present has an element waiting.
IrValue is_ready(Function&, const std::vector<steps::Operand>&);
// Those that are belated, or those that are not.
void pop_operands(Function&, const std::vector<steps::Operand>&, bool belated = false);

// Networks: returns what is missing, if anything is; the greatest key goes to `key`.
void leave_unless_ready(Function&, const std::vector<steps::Operand>&, IrValue key);
void leave_unless_waiting(Function&, QueueId, std::uint32_t reader, IrValue key);
void advance_operands(Function&, const std::vector<steps::Operand>&);

}  // namespace rml::codegen
