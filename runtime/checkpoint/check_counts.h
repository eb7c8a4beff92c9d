// Whether a state can have been saved: its counts agree with each other and with the cycles, and nothing is left that
// the program would have done before.
//
// A unit has taken an element of each stream on its clock in each of its instants, and put one into each; of streams
// on a clock below, all who have seen as many instants have seen as many elements. No unit has all that it needs for
// a further instant, and pop no row. A state in which one does would keep the program busy as long as the numbers of
// the file say; one in which a unit is ahead would wait as long.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// What the metadata of a state counts.
struct CyclesOfState {
  std::int64_t cycles = 0, rows = 0, segments = 0, longest_segment = 0;
  bool rows_wait = false;  // there may be more that are not in use asked for
};

// By row of memories.
struct CountsOfState {
  CyclesOfState run;
  std::vector<std::vector<std::int64_t>> saved;  // as state_tensors gave them; none of other rows than queues and units
  std::vector<std::vector<std::int64_t>> fresh;  // the cursors of queues where nothing has run
  std::vector<std::string_view> elements;        // of queues, as many as the counts say
};

// Which number is wrong, and what it should be; empty: none. All numbers lie in 0 … 2^62.
std::string contradiction(const rml_program& program, const CountsOfState& counts);

}  // namespace rml::rt
