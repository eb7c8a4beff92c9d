// The body of a `map`, once nothing in it that lives in time is on a clock that differs between elements
// (hold_sampled.h), in parts: each a computation within a cycle, which becomes an iteration. Between them stand memory,
// look-ahead, draws, samplings and merges on clocks that are one for all, which apply to all elements at once.
//
//   y = x + s;  s = 0 fby y;  p = 2 * post y        one part:  x + s      another one:  2 * p2, p2 = post y
//
// Two values are in one part if they depend on the same things within the cycle. So no part needs what another one
// makes of its results, and no part waits for a value that it does not need.
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// Where a value of the body stands.
enum class Stand : std::uint8_t {
  constant,  // wherever it is needed
  once,      // outside, one for all elements
  stacked,   // outside, as many as there are elements along a new first axis
  inside,    // in a part
};

struct Parts {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<Stand> stands;                  // by value
  std::vector<std::uint32_t> part;            // by value
  std::vector<std::vector<ValueId>> members;  // by part, in the order of the body
};

// Whether what the iteration yields comes back to it within a cycle: then what depends on one input has to be told from
// what depends on another.
Parts find_parts(const Core& body, const Elements&, bool comes_back);

}  // namespace rml::mapped
