// From schedule to steps: storage for what lives from instant to instant, and statements.
#pragma once

#include "lowering/schedule.h"
#include "lowering/steps.h"

namespace rml {

steps::Program build_steps(const Schedule&);

}  // namespace rml
