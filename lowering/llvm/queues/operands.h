// Operands of units: tests whether they have arrived, and takes them from their queues.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Branches to `absent` unless all conditions hold; continues in a new block if they do.
void require(Function&, const std::vector<std::pair<ValueId, bool>>& when, llvm::BasicBlock* absent,
             const std::function<IrValue(ValueId)>& value_of);
// Emits an i1: true if every present operand has an element waiting.
IrValue is_ready(Function&, const std::vector<steps::Operand>&);
// Pops the belated operands, or all others.
void pop_operands(Function&, const std::vector<steps::Operand>&, bool belated = false);

// Networks: if an operand is missing, the function returns the number of its queue + 1. Stores the greatest key of the
// operands in `key`.
void leave_unless_ready(Function&, const std::vector<steps::Operand>&, IrValue key);
void leave_unless_waiting(Function&, QueueId, std::uint32_t reader, IrValue key);
void advance_operands(Function&, const std::vector<steps::Operand>&);

}  // namespace rml::codegen
