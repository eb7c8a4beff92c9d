// Rings of a network (rml_ring): one task writes elements while another reads them.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Stores a value. A thread that acquires it sees all stores before.
void release(Function&, IrValue, std::uint64_t offset);
IrValue acquire(Function&, std::uint64_t offset);
IrValue network_element(Function&, QueueId, IrValue number);  // the address of the element with this number
IrValue network_key(Function&, QueueId, IrValue number);
void network_push(Function&, QueueId, const std::function<void(IrValue)>& write);

}  // namespace rml::codegen
