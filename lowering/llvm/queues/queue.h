// Queues between units.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

IrValue waiting(Function&, QueueId, std::uint32_t reader);  // i1: an element is there
IrValue front(Function&, QueueId, std::uint32_t reader);    // its address
void advance(Function&, QueueId, std::uint32_t reader);
void advance(Function&, const steps::Operand&);
IrValue past_all(Function&, const steps::Operand&);  // i1: the reader of the first element only has read it
// Makes room, has the element written, counts it.
void push(Function&, QueueId, const std::function<void(IrValue)>& write);

}  // namespace rml::codegen
