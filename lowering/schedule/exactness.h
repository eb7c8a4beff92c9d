// Does a schedule write every row at the instant at which it is determined?
//
// What a row waits for under the schedule is told by equations beside those of what it looks for (semantics/crossing):
// a unit has done an instant when it has done those before and what it reads there has come; what a segmented unit
// computes after its leading sweep comes where its segment ends. Both are followed through all states that a run can
// reach: nothing is withheld if and only if no row looks for nothing any more while it waits. So are the assumptions.
// Conditions that the analysis does not see through may hold or not, so what is said to be withheld may never come.
#pragma once

#include <optional>
#include <string>

#include "lowering/schedule/schedule.h"

namespace rml {

struct Inexact {
  enum Kind : std::uint8_t {
    assumption,  // a run can reach a cycle at which what the unit assumes is not so
    withheld,    // … at which the column is determined and not there
    unknown,     // too many states: the budget is spent
  } kind = unknown;
  std::uint32_t unit = Schedule::nowhere;  // of an assumption
  ValueId value;                           // what is assumed of, or the column
  std::string why;                         // a sentence with the user's names
  std::string where;                       // the conditions of the cycles up to there, oldest first
};

// Of a schedule whose units are complete (complete_units), before it is partitioned, and of the core that it was made
// of, before anything was retimed. Nothing: it is exact.
std::optional<Inexact> find_inexact(const Core&, const Schedule&);

}  // namespace rml
