// Answers queries on a schedule.
#include "lowering/schedule/schedule.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

Literal computed_cut(const Schedule& s, const ScheduledUnit& unit) {
  const auto* negation = apply_of(*s.core, unit.cut);
  if (negation == nullptr || s.unit_of[unit.cut.index] != Schedule::nowhere) return {unit.cut, true};
  return {negation->operands[0], false};
}

bool is_late(const Schedule& s, std::uint32_t unit, ValueId v) {
  if (s.unit_of[v.index] != unit) return false;
  const std::vector<SweepItem>& leading = s.units[unit].plan.sweeps[0].items;
  return std::ranges::find(leading, v, &SweepItem::value) == leading.end();
}

std::set<std::uint32_t> waiting_units(const Schedule& s, std::uint32_t unit) {
  std::set<std::uint32_t> found;
  for (std::uint32_t r = 0; r < s.units.size(); ++r) {
    const ScheduledUnit& reader = s.units[r];
    if (reader.segmented) continue;
    for (std::size_t k = 0; k < reader.operands.size(); ++k) {
      const ValueId v = s.sources[reader.operands[k].index].value;
      if (reader.needed[k].empty() && (*s.core)[v].clock == s.units[unit].clock && is_late(s, unit, v)) found.insert(r);
    }
  }
  return found;
}

}  // namespace rml
