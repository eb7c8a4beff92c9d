// NODE_group of the C interface: states side by side in memory, which are stepped in vector lanes (lanes/widen.h).
//
//   n states are stored in ⌈n / LANES⌉ groups; state k is lane k modulo LANES of group k / LANES.
//   Element e of a port's value of state k is at e * n + k.
//
// If some lanes of a group are unused, or the lanes may not be stepped together, each lane is copied into a NODE_state
// and stepped alone. Then the result is that of NODE_step, including its faults.
#pragma once

#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/stamp.h"

namespace rml::codegen {

// Emits NODE_group_init, NODE_group_get, NODE_group_put and NODE_group_step. `step`: the body of NODE_step, which
// returns i32 and takes a state and ports. `kept`: outputs that are kept in the state (numbers and offsets). Records
// the groups in `found`. Throws NoLanes (lanes/refused.h).
void emit_groups(Emission&, llvm::Function* step, const std::vector<InterfaceParameter>& ports,
                 const std::vector<std::pair<std::size_t, std::uint64_t>>& kept, StateStruct& found);

}  // namespace rml::codegen
