// Checks that a state can have been saved by the program: its counts agree with each other and
// with the number of cycles, and the program has no work left that it would have done before
// saving.
//
// In each of its instants a unit takes one element from each stream on its clock and puts one
// element into each. For streams on a slower clock, units that had equally many instants saw
// equally many elements. No unit has all operands of a further instant, and neither has pop for a
// further row. Without this check a damaged file could keep the program busy, or waiting, for as
// many cycles as its numbers say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// The counts in the metadata of a state.
struct CyclesOfState {
  std::int64_t cycles = 0, rows = 0, segments = 0, longest_segment = 0;
  bool rows_wait = false;  // complete rows may remain that were not requested
};

// Counts of memories; the index is the row of `memories`.
struct CountsOfState {
  CyclesOfState run;
  // counts that state_tensors returned; empty for a row that is no queue and no unit
  std::vector<std::vector<std::int64_t>> saved;
  std::vector<std::vector<std::int64_t>> fresh;  // one list per queue: its cursors in a new state
  std::vector<std::string_view> elements;        // elements of the queues, as many as the counts say
};

// The first wrong number, and its expected value; empty if there is none. All numbers must be in
// 0 … 2^62.
std::string contradiction(const rml_program& program, const CountsOfState& counts);

}  // namespace rml::rt
