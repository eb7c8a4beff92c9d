// The bodies of iterations as steps: a program within the program.
#pragma once

#include "compiler/session.h"
#include "lowering/steps/steps.h"

namespace rml {

// Each by the passes that make steps of a program, without a network; their sites are the program's (pipeline.cc).
void lower_bodies(Session&, steps::Program&);

}  // namespace rml
