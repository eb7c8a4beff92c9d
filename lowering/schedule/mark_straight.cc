// Marks a program as straight if each cycle is computed from its own inputs alone: then it needs no queues, and never
// waits.
#include <algorithm>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

bool is_straight(const Schedule& s) {
  if (s.units.size() > 1) return false;
  for (const ScheduledUnit& u : s.units) {
    if (u.segmented || u.clock != base_clock) return false;
    if (!std::ranges::all_of(u.operands, [&](ValueId v) { return s.is_base_input(v); })) return false;
  }
  return std::ranges::all_of(s.core->outputs, [&](const Port& o) { return s.sources[o.value.index].skip == 0; });
}

}  // namespace

Schedule mark_straight(Schedule s) {
  s.straight = is_straight(s);
  return s;
}

}  // namespace rml
