// Finds shift registers: memories whose next value is the old one shifted by a few rows, with new rows in the gap.
//
//   f = 0 fby w;  w = concat(x, f[:n - 1])         the newest first
//   f = 0 fby w;  w = concat(f[1:], x)             the newest last
//
// Such a memory becomes a ring, in which no row is moved. The cell has room for 2n rows, and each new row is written at
// two places n apart. The value is n contiguous rows, which begin one place further at each instant. Readers see an
// ordinary tensor.
//
//   n = 3, after 5 elements       . . 5 4 3 .  ->  .[5 4 3]5 4      value at 1, and the same rows again after it
#pragma once

#include <map>
#include <optional>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// A value that is another value shifted by `rows` rows, with `entering` before or after the rest.
struct Move {
  ValueId from, kept;  // `kept` are the rows of `from` that remain
  ValueId entering;
  std::int64_t rows = 0;
  bool newest_first = true;
};
std::optional<Move> as_move(const Core&, ValueId);

// Finds the windows. The key of each one is the value that is stored in the memory.
std::map<ValueId, steps::Window> find_windows(const steps::Program&, const Target&);

}  // namespace rml
