// Values of a segment that need no memory of their own, since they lie in a cell that is there anyway.
//
// A parameter p that moves on at the end of a segment, as its gradient says, stands still until then:
//
//   h := if true fby end then p else 0 fby h        h, and the memory of h, lie in p's cell
//   u := (p - rate * dp) when true fby end          computed in p's cell, if p is looked at no more
//   p := init fby (if true fby end then u else p)
#pragma once

#include <functional>
#include <map>
#include <set>

#include "lowering/segment_facts.h"

namespace rml {

// What only the builder of the segment knows.
struct SharingQuestions {
  std::function<std::size_t(ValueId)> in_place;               // the pass that replays a memory in its cell; 0: none
  std::function<ValueId(ValueId)> holder;                     // the memory of a value that is held, or none
  std::function<const std::set<std::size_t>&(ValueId)> used;  // passes that look at a value
  std::function<bool(ValueId)> looked_at;                     // from outside the unit
};

struct SharedCells {
  std::map<ValueId, ValueId> lies_in;   // value: the memory in whose cell it is found
  std::map<ValueId, ValueId> moves_on;  // value: the memory whose cell it is stored in, where it is computed
};

SharedCells share_cells(const Core&, const SegmentFacts&, const std::vector<PassPlan>& passes, const SharingQuestions&);

}  // namespace rml
