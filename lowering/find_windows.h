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

#include "lowering/steps.h"

namespace rml {

struct Window {
  CellId cell;
  ValueId entering;       // the new rows
  std::int64_t rows = 0;  // of the new ones; a divisor of all
  bool newest_first = true;
};

// By value. Nobody else looks at such a cell, nor at what was loaded from it.
using Windows = std::map<ValueId, Window>;
Windows find_windows(const steps::Program&);

}  // namespace rml
