// `x: f32[8] dealt end by 4`: that the inputs of a node are dealt by one Boolean, and that a step is of so many
// micro-batches.
#pragma once

#include "semantics/check/resolve_names_walk.h"

namespace rml {

// Reports E1001. The variables of the node are declared.
void check_deal(const ast::Node& node, NameWalk& walk);

}  // namespace rml
