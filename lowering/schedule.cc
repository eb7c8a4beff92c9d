// All passes of scheduling, in their order; and what is asked of the result.
#include "lowering/schedule.h"

#include <algorithm>

#include "lowering/schedule/passes.h"

namespace rml {

Literal computed_cut(const Schedule& s, const ScheduledUnit& unit) {
  const auto* negation = std::get_if<core::Apply>(&(*s.core)[unit.cut].rhs);
  if (negation == nullptr || s.unit_of[unit.cut.index] != Schedule::nowhere) return {unit.cut, true};
  return {negation->operands[0], false};
}

bool is_late(const Schedule& s, std::uint32_t unit, ValueId v) {
  if (s.unit_of[v.index] != unit) return false;
  const std::vector<PassItem>& leading = s.units[unit].plan.passes[0].items;
  return std::ranges::find(leading, v, &PassItem::value) == leading.end();
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

std::optional<Schedule> schedule(const Core& input, Diagnostics& diagnostics, Grain grain) {
  Core core = give_constants_streams(undo_delays(prune_undemanded(input)));
  if (!check_order(core, diagnostics)) return std::nullopt;
  const auto retimed = std::make_shared<const Core>(prune_undemanded(retime(std::move(core))));
  const ScheduleFacts facts(*retimed);
  std::optional<Schedule> grouped = group_units(retimed, facts, diagnostics);
  if (!grouped) return std::nullopt;
  Schedule s = absorb(std::move(*grouped), facts);
  s = split_units(std::move(s), facts);
  s = sort_units(std::move(s), facts);
  s = complete_units(std::move(s), facts);
  s = order_values(std::move(s), facts);
  if (grain == Grain::op || grain == Grain::stage) {
    s = partition(std::move(s), facts, grain);
    s = complete_units(std::move(s), facts);
  }
  if (grain == Grain::none) s = mark_straight(std::move(s));
  return add_cuts(add_zeros(std::move(s)));
}

}  // namespace rml
