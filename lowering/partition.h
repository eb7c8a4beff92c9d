// Forward units in parts, for networks: what becomes a task.
#pragma once

#include "lowering/schedule.h"
#include "semantics/components.h"
#include "semantics/dependence.h"

namespace rml {

// About how long an instant of a value takes on one core: a rough figure, to balance tasks by. Nanoseconds.
double estimate_nanoseconds(const Core&, ValueId);

// Grain op: every equation of a forward unit becomes a unit. Grain stage: neighbours share one until together they take
// long enough to be worth a hand-over. A recurrence is cut where it goes back to the next instant: the fby becomes a
// stream with a first element (Schedule::delayed), handed out by the unit that computes what comes next. It is kept
// whole where the first value is computed, or the memory keeps what it has (a parameter that nothing moves).
// Units and their values are sorted, before and after.
void partition(Schedule&, const DependenceGraph&, const Components&, Grain);

}  // namespace rml
