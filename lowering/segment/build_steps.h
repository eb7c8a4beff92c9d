// From schedule and segments to steps: storage for what lives from instant to instant, and statements.
#pragma once

#include "lowering/segment/segment.h"
#include "lowering/steps/steps.h"

namespace rml {

// `network`: units are tasks.
steps::Program build_steps(const Segments&, bool network);

}  // namespace rml
