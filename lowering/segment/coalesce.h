// Finds values of a segment that need no storage of their own, because they can share the cell of a memory.
//
// A parameter p that an optimiser moves at the end of a segment, by its gradient, does not change before:
//
//   h := if true fby end then p else 0 fby h        h, and the memory of h, share p's cell
//   u := (p - rate * dp) when true fby end          computed in p's cell, if p is not read later
//   p := init fby (if true fby end then u else p)
#pragma once

#include <map>
#include <set>

#include "lowering/segment/segment_facts.h"

namespace rml {

// The sweeps that read each value.
using Looks = std::map<ValueId, std::set<std::size_t>>;

struct Coalesced {
  std::map<ValueId, ValueId> found_in;   // indexed by value: the memory in whose cell the value is found
  std::map<ValueId, ValueId> stored_in;  // by value: the memory in whose cell it is stored as the next value
};

// Finds the values that share the cell of a memory. Uses the segment's memories, which say which
// sweep updates them in place.
Coalesced coalesce(const SegmentFacts&, const Segment&, const Looks&);

}  // namespace rml
