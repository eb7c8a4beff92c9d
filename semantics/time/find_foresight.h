// Finds out whether a value of a row depends on an input of the same row or of a later one.
//
// A value may be delayed or look ahead, so the steps along a path of dependences are added: 0
// within the cycle, -1 through a fby, +1 through a post. A post on a sampled clock may look ahead
// any number of cycles.
//
// A program that learns at the ends of segments looks ahead by any number of cycles, but not
// beyond the end of the segment, and it uses the result in later segments. So a path that has
// gone back to a completed segment does not go forward again through a post that is taken only
// inside a segment.
#pragma once

#include <vector>

#include "semantics/core/core.h"

namespace rml {

struct Foresight {
  ValueId input;
  // The values from the queried one to the input. If the path repeats in time, only its last
  // part.
  std::vector<ValueId> way;
  bool later = false;  // true if the input of a later cycle is needed
};

// The inputs that `value` depends on in its own cycle or in later ones, in order of ports. The
// result may contain too many: a branch that is never taken counts, and so does a path through
// segments of several conditions.
std::vector<Foresight> find_foresight(const Core&, ValueId value);

}  // namespace rml
