// Finds the values that one unit of a schedule hands to another, or to the rows.
#pragma once

#include <vector>

#include "lowering/schedule/schedule.h"

namespace rml {

// What is known about the values that units pass on. Vectors are indexed by ValueId, unless stated otherwise.
struct Streams {
  // Other units, or the rows, read the value from the unit that computes it.
  std::vector<bool> handed_out;
  // A memory that never changes after its first instant, in a unit that runs whenever a cycle is pushed. Other units
  // read its cell, so it needs no stream. An example is a parameter that no optimiser moves.
  std::vector<bool> settled;
  // One per value: true if an assertion reads it.
  std::vector<bool> checked;
  // One per value: true if a clock is sampled by it.
  std::vector<bool> tells_clock;
  // One per unit: true if every operand arrives as soon as a cycle is pushed.
  std::vector<bool> prompt;
};

Streams find_streams(const Schedule&);

}  // namespace rml
