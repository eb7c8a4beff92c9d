// Splits the body of a `map` into parts: computations within a cycle, each of which becomes an
// iteration. Before: no memory, look-ahead or draw is on a clock that differs between elements
// (hold_sampled.h). Between the parts are the memories, look-aheads, draws, samplings and merges
// on clocks that are the same for all; they apply to all elements together.
//
//   y = x + s;  s = 0 fby y;  p = 2 * post y        one part:  x + s      another one:  2 * p2, p2 = post y
//
// Two values are in the same part if they depend on the same sources within the cycle. So no part
// needs a value that is computed from its own result, and no part waits for a value that it does
// not need.
#pragma once

#include "semantics/spread/elements.h"

namespace rml::mapped {

// Where a value of the body is computed after the map is spread.
enum class Stand : std::uint8_t {
  constant,  // a constant, which may be on any clock
  once,      // computed outside the parts, one value for all elements
  stacked,   // computed outside the parts, with a new first axis for the elements
  inside,    // computed inside a part
};

struct Parts {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::vector<Stand> stands;                  // the place of each value of the body
  std::vector<std::uint32_t> part;            // indexed by value: number of its part
  std::vector<std::vector<ValueId>> members;  // members of each part, in the order of the body
};

// `comes_back`: true if an operand of the iteration depends on its result within a cycle. Then
// values that depend on different inputs are kept in different parts.
Parts find_parts(const Core& body, const Elements&, bool comes_back);

}  // namespace rml::mapped
