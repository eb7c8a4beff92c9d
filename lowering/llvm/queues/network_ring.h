// Rings of a network (rml_ring): what one task writes and another reads at the same time.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void release(Function&, IrValue, std::uint64_t offset);  // stores; who acquires it sees what was stored before
IrValue acquire(Function&, std::uint64_t offset);
IrValue network_element(Function&, QueueId, IrValue number);  // its address
IrValue network_key(Function&, QueueId, IrValue number);
void network_push(Function&, QueueId, const std::function<void(IrValue)>& write);

}  // namespace rml::codegen
