// Emits code for queues between units.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

IrValue waiting(Function&, QueueId, std::uint32_t reader);  // i1: an element is waiting
IrValue front(Function&, QueueId, std::uint32_t reader);    // the address of the next element
void advance(Function&, QueueId, std::uint32_t reader);
void advance(Function&, const steps::Operand&);
IrValue past_all(Function&, const steps::Operand&);  // i1: a reader that reads the first element only has read it
// Makes room for an element, calls `write` with its address, and counts it.
void push(Function&, QueueId, const std::function<void(IrValue)>& write);

}  // namespace rml::codegen
