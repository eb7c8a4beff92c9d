// Values of a segment that need no memory of their own, since they lie in a cell that is there anyway.
//
// A parameter p that moves on at the end of a segment, as its gradient says, stands still until then:
//
//   h := if true fby end then p else 0 fby h        h, and the memory of h, lie in p's cell
//   u := (p - rate * dp) when true fby end          computed in p's cell, if p is looked at no more
//   p := init fby (if true fby end then u else p)
#pragma once

#include <map>
#include <set>

#include "lowering/segment/segment_facts.h"

namespace rml {

// By value, the sweeps that look at it.
using Looks = std::map<ValueId, std::set<std::size_t>>;

struct Coalesced {
  std::map<ValueId, ValueId> found_in;   // by value: the memory in whose cell it is found
  std::map<ValueId, ValueId> stored_in;  // by value: the memory whose next value it is, in whose cell it is stored
};

// The segment's memories say which sweep carries them in place.
Coalesced coalesce(const SegmentFacts&, const Segment&, const Looks&);

}  // namespace rml
