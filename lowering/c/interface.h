// Which parameters the functions of a node have, and whether they can fail or draw random numbers.
#pragma once

#include <string>
#include <vector>

#include "lowering/c/scope.h"
#include "lowering/signature.h"

namespace rml::c99 {

// True if some statement of a step can stop it; `draws`: if some statement draws random numbers.
bool can_fault(const loops::Program&);
// True for a check that always passes, for example for division by a constant other than 0.
bool never_holds(const loops::Nest&, const loops::Check&);
bool draws(const loops::Program&);

}  // namespace rml::c99
