// Whether a value of a row depends on what an input is in that row, or in a later one.
//
// A value may be known a row late or look ahead; what counts is how the steps of a way add up: 0 within the cycle, -1
// through a fby, +1 through a post. A post of a sampled clock reaches any number of cycles ahead.
//
// A program that learns at the ends of segments looks ahead by any number of cycles, but not beyond the end of the
// segment, and what it has learned is used in later segments. A way that has gone back to a segment that has ended
// therefore does not come forward again through a post that is taken only where the segment has not ended.
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

// Inputs that `value` depends on in its own cycle or in later ones, in order of ports. It errs on one side: a branch
// that is never taken counts, and so does a way on which segments of several conditions follow one another.
std::vector<Foresight> find_foresight(const Core&, ValueId value);

}  // namespace rml
