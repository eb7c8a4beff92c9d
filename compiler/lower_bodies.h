// Lowers the bodies of iterations. Each body becomes a program of steps within the program.
#pragma once

#include "compiler/session.h"
#include "lowering/steps/steps.h"

namespace rml {

// Each body passes through the passes from core to steps, but is never a network. Its sites are
// added to the program's.
void lower_bodies(Session&, steps::Program&);

}  // namespace rml
