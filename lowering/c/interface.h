// What the functions of a node are given, and whether they can fail or draw.
#pragma once

#include <string>
#include <vector>

#include "lowering/c/scope.h"
#include "lowering/signature.h"

namespace rml::c99 {

// Whether some statement of a step can stop it, or draw.
bool can_fault(const loops::Program&);
// A division by a constant asks whether that is 0.
bool never_holds(const loops::Nest&, const loops::Check&);
bool draws(const loops::Program&);

}  // namespace rml::c99
