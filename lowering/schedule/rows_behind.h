// Rows that are determined before their schedule can write them because it is behind.
//
// What looks ahead a bounded number of cycles is computed so many cycles later (retime), whether it does look ahead or
// not:
//
//   y = if c then x else post z;  z = 0.0 fby (0.0 fby y)       known at once where c holds, and computed a cycle later
//
// That is found on the core that was not yet retimed. At the start, for as many cycles as the schedule is behind, rows
// may be known already that are of nothing but initial values; they come later, and no schedule is given up for them.
#pragma once

#include <optional>

#include "lowering/schedule/schedule.h"

namespace rml {

// The column that keeps them, by number. None as well where a row has too many states to be followed: it comes so many
// cycles late at most.
std::optional<std::size_t> find_column_behind(const Core&, const Schedule&);

}  // namespace rml
