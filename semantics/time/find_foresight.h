// Whether a value of a row hangs on what an input is in that row, or in a later one.
//
// A value may be known a row late or look ahead; what counts is how the steps of a way add up: 0 within the cycle, -1
// through a fby, +1 through a post. A post of a sampled clock reaches any number of cycles ahead.
#pragma once

#include <vector>

#include "semantics/core/core.h"

namespace rml {

struct Foresight {
  ValueId input;
  // The values from the one that was asked about to the input; where a way goes round in time, the last part of it.
  std::vector<ValueId> way;
  bool later = false;  // it is the input of a later cycle
};

// Inputs that `value` hangs on in its own cycle or in later ones, in order of ports. It errs on one side: a branch that
// is never taken counts.
std::vector<Foresight> find_foresight(const Core&, ValueId value);

}  // namespace rml
