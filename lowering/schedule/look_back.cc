// Lets operands that only the end of a segment needs come with the next instant:
//
//   p = par(0.5, r, dw when r);  w = if r then p else (0.0 fby w)          restarted where r holds, and trained
//
// Here `post r` ends a segment. Only the sweeps after the leading one wait for it, so the leading sweep need not. At
// each instant the unit first completes the previous one and closes the segment if that was the last; then the leading
// sweep continues.
//
// This requires that the leading sweep neither reads the late operands nor tests whether an instant is the last one.
#include <algorithm>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

class LookingBack {
 public:
  explicit LookingBack(Schedule& s) : s_(s), core_(*s.core), lags_(s.units.size()) {}

  void run() {
    for (std::uint32_t u = 0; u < s_.units.size(); ++u) {
      ScheduledUnit& unit = s_.units[u];
      lags_[u] = lag_without(unit, {});
      if (unit.segmented) look_back(unit, lags_[u]);
    }
  }

 private:
  static constexpr std::uint32_t unbounded = 1U << 16;

  // Returns by how many instants the elements of the value come late.
  std::uint32_t lag_of(ValueId v) const {
    const StreamSource source = s_.sources[v.index];
    const std::uint32_t unit = s_.unit_of[source.value.index];
    if (unit != Schedule::nowhere && s_.units[unit].segmented && is_late(s_, unit, source.value)) return unbounded;
    if (source.skip > 0 && core_[source.value].clock != base_clock) return unbounded;
    return std::min(unbounded, source.skip + (unit == Schedule::nowhere ? 0 : lags_[unit]));
  }

  std::uint32_t lag_without(const ScheduledUnit& unit, const std::vector<ValueId>& some) const {
    std::uint32_t lag = 0;
    for (const ValueId v : unit.operands)
      if (std::ranges::find(some, v) == some.end()) lag = std::max(lag, lag_of(v));
    return lag;
  }

  void look_back(ScheduledUnit& unit, std::uint32_t& lag) const {
    std::vector<ValueId> late;
    for (const ValueId v : unit.operands)
      if (lag_of(v) == lag && s_.sources[v.index].skip == 1 && core_[v].clock == unit.clock) late.push_back(v);
    if (late.empty() || lag_without(unit, late) + 1 != lag || !can_wait(unit, late)) return;
    for (const ValueId v : late)
      unit.needed[static_cast<std::size_t>(std::ranges::find(unit.operands, v) - unit.operands.begin())].clear();
    unit.belated = std::move(late);
    --lag;
  }

  bool can_wait(const ScheduledUnit& unit, const std::vector<ValueId>& late) const {
    const SegmentPlan& plan = unit.plan;
    if (plan.sweeps[0].items.empty() || core_[plan.cut.condition].clock != unit.clock) return false;
    if (!plan.only_at_cut.empty() || !plan.awaiting.empty()) return false;
    const auto is_late = [&](ValueId v) { return std::ranges::find(late, v) != late.end(); };
    for (const ValueId v : unit.values)
      if (const auto* f = std::get_if<core::Fby>(&core_[v].rhs); f != nullptr && (is_late(f->next) || is_late(f->init)))
        return false;
    return std::ranges::all_of(plan.sweeps[0].items, [&](const SweepItem& i) {
      bool waits = false;
      for_each_operand(core_[i.value].rhs, [&](ValueId o) { waits = waits || is_late(o); });
      for (const ClockId c : ancestors(core_, core_[i.value].clock, unit.clock))
        waits = waits || is_late(core_[c].condition);
      return !waits && !tells_last(i.classes);
    });
  }

  Schedule& s_;
  const Core& core_;
  std::vector<std::uint32_t> lags_;  // by unit: the lag of its leading sweep, or of all its values
};

}  // namespace

Schedule look_back(Schedule s) {
  LookingBack(s).run();
  return s;
}

}  // namespace rml
