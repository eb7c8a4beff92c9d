// Decides which products wait: a walk from the values that rows, conditions and faults need, then an estimate of the
// bytes that waiting would keep.
#include "lowering/segment/defer.h"

#include <algorithm>
#include <set>

#include "lowering/segment/batch_in_time.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

void for_each_condition(const Core& core, ValueId v, const std::function<void(ValueId)>& f) {
  for (const ClockId c : ancestors(core, core[v].clock)) f(core[c].condition);
}

// Moves the waiting values to a sweep of their own, the second one.
Segment split_leading(Segment segment, const std::function<bool(ValueId)>& waits) {
  Sweep leading, second;
  for (const SweepItem& i : segment.sweeps[0].items) (waits(i.value) ? second : leading).items.push_back(i);
  segment.sweeps[0] = std::move(leading);
  if (!second.items.empty()) segment.sweeps.insert(segment.sweeps.begin() + 1, std::move(second));
  return segment;
}

// Adds the transitive users of the values in `all`.
void add_users(const Core& core, const std::vector<SweepItem>& items, std::set<ValueId>& all) {
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const SweepItem& i : items) {
      bool uses = false;
      const auto look = [&](ValueId o) { uses = uses || all.contains(o); };
      for_each_operand(core[i.value].rhs, look);
      for_each_condition(core, i.value, look);
      if (uses) all.insert(i.value);
    }
  }
}

// The uses of a unit's values by other units and rows.
class Outside {
 public:
  Outside(const Schedule& s, std::uint32_t unit, const SegmentFacts& facts)
      : schedule_(s), core_(*s.core), unit_(unit), facts_(facts) {
    for (const std::uint32_t u : waiting_units(s, unit)) units_[u] = true;
    for (const Port& p : core_.outputs) {
      told_.insert(from(p.value));
      for_each_condition(core_, p.value, [&](ValueId c) { told_.insert(from(c)); });
    }
  }

  // True if no outside use needs the value before the segment's end. Other units whose own results are needed only at
  // the segment's end may wait as well.
  bool may_wait(ValueId v) {
    if (facts_.present_last_only(v)) return true;
    if (told_.contains(v)) return false;
    for (std::uint32_t u = 0; u < schedule_.units.size(); ++u)
      if (u != unit_ && reads(u, v) && !unit_may_wait(u)) return false;
    return true;
  }
  // True for values that may fault, including checks of absent inputs, which belong to their cycle, and for calls,
  // whose order matters.
  bool has_its_cycle(ValueId v) const {
    const core::Rhs& rhs = core_[v].rhs;
    return facts_.checked(v) || can_fail(core_, v) || std::holds_alternative<core::Input>(rhs) ||
           std::holds_alternative<core::Call>(rhs);
  }
  // Bytes per instant that waiting units keep in queues.
  std::int64_t queued_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& [u, waits] : units_)
      for (const ValueId o : schedule_.units[u].operands) bytes += waits ? facts_.bytes(o) : 0;
    return bytes;
  }

 private:
  ValueId from(ValueId v) const { return schedule_.sources[v.index].value; }
  bool reads(std::uint32_t u, ValueId v) const {
    return std::ranges::any_of(schedule_.units[u].operands, [&](ValueId o) { return from(o) == v; });
  }
  // Units of a network may depend on each other cyclically, through delayed streams. Units of such a cycle may not
  // wait.
  bool unit_may_wait(std::uint32_t u) {
    if (const auto [at, added] = units_.emplace(u, false); !added) return at->second;
    const ScheduledUnit& unit = schedule_.units[u];
    return units_[u] = !unit.segmented &&
                       std::ranges::all_of(unit.values, [&](ValueId v) { return !has_its_cycle(v) && may_wait(v); });
  }

  const Schedule& schedule_;
  const Core& core_;
  std::uint32_t unit_;
  const SegmentFacts& facts_;
  std::map<std::uint32_t, bool> units_;  // units that were examined: true if the unit may wait
  std::set<ValueId> told_;               // values that rows need: outputs, and the conditions of their presence
};

// An estimate of the bytes that an instant keeps for later sweeps.
std::int64_t kept_bytes(const SegmentFacts& facts, const std::vector<Sweep>& sweeps) {
  const Core& core = facts.core();
  std::map<ValueId, std::set<std::size_t>> computed;
  for (std::size_t s = 0; s < sweeps.size(); ++s)
    for (const SweepItem& i : sweeps[s].items) computed[i.value].insert(s);
  std::set<ValueId> kept;
  for (std::size_t s = 0; s < sweeps.size(); ++s)
    for (const SweepItem& i : sweeps[s].items)
      for_each_operand(core[i.value].rhs, [&](ValueId o) {
        const auto at = computed.find(o);  // an operand in the unit counts as computed in the leading sweep
        const bool here = at == computed.end() ? s == 0 : at->second == std::set<std::size_t>{s};
        if (!here && !core.is_const(o) && !facts.costs_nothing(o)) kept.insert(o);
      });
  std::int64_t bytes = 0;
  for (const ValueId v : kept) bytes += facts.bytes(v);
  return bytes;
}

// The operands of the cut, and the values that are held for the segment.
std::vector<ValueId> needed_early(const SegmentFacts& facts, const Segment& segment) {
  std::vector<ValueId> early = {facts.cut().condition};
  for (const Literal& o : facts.unit().plan.only_at_cut) early.push_back(o.condition);
  for (const SweepItem& i : segment.sweeps[0].items)
    if (facts.holder(i.value).valid()) early.push_back(i.value);
  return early;
}

// Defers everything except the operands of the roots.
Segment defer_all_but(const Core& core, const std::vector<ValueId>& roots, const Segment& segment) {
  std::set<ValueId> here, early;
  for (const SweepItem& i : segment.sweeps[0].items) here.insert(i.value);
  std::vector<ValueId> work = roots;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (!here.contains(v) || !early.insert(v).second) continue;
    for_each_operand(core[v].rhs, [&](ValueId o) { work.push_back(o); });
    for_each_condition(core, v, [&](ValueId o) { work.push_back(o); });
  }
  return split_leading(segment, [&](ValueId v) { return !early.contains(v); });
}

// First tries to defer everything that may wait, to see which products leave their loop. Only those products wait, and
// the values computed from them.
Segment defer_products(const Schedule& schedule, const Streams& streams, const SegmentFacts& facts,
                       const Segment& segment, const Target& target) {
  const Core& core = *schedule.core;
  Outside outside(schedule, segment.unit, facts);
  std::vector<ValueId> early = needed_early(facts, segment);
  for (const SweepItem& i : segment.sweeps[0].items)
    if (!outside.may_wait(i.value) || outside.has_its_cycle(i.value)) early.push_back(i.value);
  const Segment most = defer_all_but(core, early, segment);
  if (most.sweeps.size() == segment.sweeps.size()) return segment;
  std::set<ValueId> second, waiting;
  for (const SweepItem& i : most.sweeps[1].items) second.insert(i.value);
  for (const auto& [v, batch] : batch_in_time(schedule, streams, most, target).products)
    if (!batch.sum && second.contains(v)) waiting.insert(v);
  if (waiting.empty()) return segment;
  add_users(core, segment.sweeps[0].items, waiting);
  Segment deferred = split_leading(segment, [&](ValueId v) { return waiting.contains(v); });
  const std::int64_t kept = kept_bytes(facts, deferred.sweeps) + outside.queued_bytes();
  return kept <= 2 * kept_bytes(facts, segment.sweeps) ? deferred : segment;
}

}  // namespace

Segment defer(const Schedule& schedule, const Streams& streams, const Segment& segment, const Deferral& what,
              const Target& target) {
  const SegmentFacts facts(schedule, streams, segment);
  if (what.whole_segment) return defer_all_but(*schedule.core, needed_early(facts, segment), segment);
  return what.products ? defer_products(schedule, streams, facts, segment, target) : segment;
}

Segments defer(Segments s, const Deferral& what, const Target& target) {
  return change_each(std::move(s), [&](const auto&... of) { return defer(of..., what, target); });
}

}  // namespace rml
