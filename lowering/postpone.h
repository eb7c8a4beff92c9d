// What only one later pass of a segment looks at is computed there, if that keeps less:
//
//   leading:   t := 1 - s;  arrays[s] := s        backward:  d := e * s * t          (no array for t)
#pragma once

#include <functional>

#include "lowering/schedule.h"

namespace rml {

// What only the builder of the segment knows.
struct PostponeQuestions {
  std::function<bool(ValueId, std::size_t pass)> movable;  // only its users depend on when it is computed
  std::function<bool(ValueId)> there;                      // kept all the segment through anyway
  std::function<bool(ValueId)> once;                       // present at one instant of a segment
  std::function<bool(ValueId)> memory;                     // of a fby; not there in a pass that does not replay it
  std::function<bool(ValueId)> batched;                    // for all instants at once
  std::function<void(ValueId, const std::function<void(ValueId)>&)> operands;
};

// Moves items into the one later pass that looks at them.
void postpone(const Core&, std::vector<PassPlan>& passes, const PostponeQuestions&);

}  // namespace rml
