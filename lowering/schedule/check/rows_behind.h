// Finds rows that are determined before the schedule can write them, because retiming made the schedule late.
//
// A value in a component that looks ahead a bounded number of cycles is computed that many cycles later (retime), even
// at cycles where the value itself does not look ahead:
//
//   y = if c then x else post z;  z = 0.0 fby (0.0 fby y)       known immediately where c holds, but computed a cycle
//   later
//
// Such rows are found on the core before retiming. At the start of a run, rows that consist only of initial values may
// also be known before they are written. No schedule is rejected for those.
#pragma once

#include <optional>

#include "lowering/schedule/schedule.h"

namespace rml {

// The number of an output column that may be late in this way, or nothing. Also nothing if a row has too many states to
// enumerate: such a row is at most as many cycles late as the schedule is.
std::optional<std::size_t> find_column_behind(const Core&, const Schedule&);

}  // namespace rml
