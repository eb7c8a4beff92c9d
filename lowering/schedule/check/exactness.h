// Checks whether a schedule writes every row at the cycle at which the row is determined.
//
// Two systems of equations are compared (semantics/crossing): what a row waits for under the schedule, and what
// determines the row by the program alone. Under the schedule a unit has done an instant when it has done the instants
// before and the values that it reads there have arrived. Values that a segmented unit computes after its leading sweep
// arrive at the end of the segment. Both systems are followed through all states that a run can reach. The schedule is
// exact if no row is determined while it still waits. The assumptions of the schedule are checked in the same way.
// Conditions that the analysis cannot follow may hold or not, so a reported row may in fact never be withheld.
#pragma once

#include <optional>
#include <string>

#include "lowering/schedule/schedule.h"

namespace rml {

struct Inexact {
  enum Kind : std::uint8_t {
    assumption,  // a run can reach a cycle at which an assumption of the unit is false
    withheld,    // a run can reach a cycle at which the column is determined but not available
    unknown,     // not decided, because there are too many states for the budget
  } kind = unknown;
  std::uint32_t unit = Schedule::nowhere;  // number of the unit whose assumption is broken
  ValueId value;                           // the value that the assumption is about, or the column
  std::string why;                         // the reason, as a sentence with the user's names
  std::string where;                       // the conditions of the cycles up to the row that is late, oldest first
};

// Takes a schedule with complete units (complete_units) before it is partitioned, and the core from which it was made,
// before retiming. Returns nothing if the schedule is exact.
std::optional<Inexact> find_inexact(const Core&, const Schedule&);

}  // namespace rml
