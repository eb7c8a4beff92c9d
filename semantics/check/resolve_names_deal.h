// Checks `x: f32[8] dealt end by 4`: all dealt inputs of a node must name the same Boolean `end`
// of micro-batches and the same number of micro-batches per step.
#pragma once

#include "semantics/check/resolve_names_walk.h"

namespace rml {

// Reports E1001. The variables of the node must be declared before the call.
void check_deal(const ast::Node& node, NameWalk& walk);

}  // namespace rml
