// From schedule to steps: storage for what lives from instant to instant, and statements.
#pragma once

#include "lowering/schedule.h"
#include "lowering/steps.h"

namespace rml {

struct StepOptions {
  bool batch = true;           // products over whole segments; sums in another order
  bool whole_segment = false;  // a segment's forward computation waits for its end
  bool network = false;        // units are tasks
};

steps::Program build_steps(const Schedule&, const StepOptions& = {});

}  // namespace rml
