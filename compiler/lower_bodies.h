// Lowers the parts of a program that are programs of steps themselves: the bodies of iterations, and the leader.
//
// A part passes through the passes from core to steps, but is never a network.
#pragma once

#include "compiler/session.h"
#include "lowering/steps/steps.h"

namespace rml {

// The sites of the bodies are added to the program's.
void lower_bodies(Session&, steps::Program&);
// Gives a program with units its leader (lowering/steps/leader.h), if it has one.
void make_leader(Session&, steps::Program&);

}  // namespace rml
