// Shift registers: memories whose next value is the old one moved by a few rows, with new rows in their place.
//
//   f = 0 fby w;  w = concat(x, f[:n - 1])         the newest first
//   f = 0 fby w;  w = concat(f[1:], x)             the newest last
//
// Nothing is moved: the cell has room for two times n rows, each new row is written at two places n apart, and the
// value is the n rows in one piece that begin one place further. Whoever looks at it finds it as any other tensor.
//
//   n = 3, after 5 elements       . . 5 4 3 .  ->  .[5 4 3]5 4      value at 1, and the same rows again behind it
#pragma once

#include <map>
#include <optional>

#include "lowering/steps/steps.h"
#include "lowering/target.h"

namespace rml {

// A value that is another one moved, with `entering` in front or behind.
struct Move {
  ValueId from, kept;  // … of which these rows stay
  ValueId entering;
  std::int64_t rows = 0;
  bool newest_first = true;
};
std::optional<Move> as_move(const Core&, ValueId);

// By value.
std::map<ValueId, steps::Window> find_windows(const steps::Program&, const Target&);

}  // namespace rml
