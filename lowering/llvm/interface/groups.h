// NODE_group of the C interface: states side by side, which are stepped in vector lanes (lanes/widen.h).
//
//   n states lie in ⌈n / LANES⌉ groups; state k is lane k modulo LANES of group k / LANES.
//   Element e of a port's value of state k lies at e * n + k.
//
// A group whose lanes are not all in use, or may not be stepped together, is stepped lane by lane: each is copied into
// a NODE_state for it. Then the result is that of NODE_step, its faults included.
#pragma once

#include "lowering/llvm/interface/parameters.h"
#include "lowering/llvm/interface/stamp.h"

namespace rml::codegen {

// Emits NODE_group_init, NODE_group_get, NODE_group_put and NODE_group_step. step: the body of NODE_step, i32 of a
// state and ports; kept: outputs that are kept in the state (their numbers and places). Tells `found` of the groups.
// Throws NoLanes (lanes/refused.h).
void emit_groups(Emission&, llvm::Function* step, const std::vector<InterfaceParameter>& ports,
                 const std::vector<std::pair<std::size_t, std::uint64_t>>& kept, StateStruct& found);

}  // namespace rml::codegen
