// What the units of a schedule hand on to one another, and to the rows.
#pragma once

#include <vector>

#include "lowering/schedule/schedule.h"

namespace rml {

// By ValueId.
struct Streams {
  // Other units, or the rows, take the value from the unit that computes it.
  std::vector<bool> handed_out;
  // A memory that keeps what it has at its first instant, in a unit that runs whenever a cycle is pushed: other units
  // find it in its cell, and no stream is needed. Where nothing ever moves a parameter, say.
  std::vector<bool> settled;
  // An assertion looks at it.
  std::vector<bool> checked;
  // Some clock is sampled by it.
  std::vector<bool> tells_clock;
  // By unit: every operand is there as soon as a cycle is pushed.
  std::vector<bool> prompt;
};

Streams find_streams(const Schedule&);

}  // namespace rml
