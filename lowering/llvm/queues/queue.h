// Emits code for queues between units.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

IrValue waiting(Function&, QueueId, std::uint32_t reader);  // emits an i1: true if an element is waiting
IrValue front(Function&, QueueId, std::uint32_t reader);    // the address of the next element
void advance(Function&, QueueId, std::uint32_t reader);
void advance(Function&, const steps::Operand&);
// Emits an i1: true if a reader of the first element only has read it.
IrValue past_all(Function&, const steps::Operand&);
// Makes room for an element, calls `write` with its address, and counts it.
void push(Function&, QueueId, const std::function<void(IrValue)>& write);

}  // namespace rml::codegen
