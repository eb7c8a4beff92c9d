// Builds steps from a schedule and its segments: storage for values that live from instant to instant, and statements.
#pragma once

#include "lowering/segment/segment.h"
#include "lowering/steps/steps.h"

namespace rml {

// Writes the program of steps. `network`: each unit becomes a task.
steps::Program build_steps(const Segments&, bool network);

}  // namespace rml
