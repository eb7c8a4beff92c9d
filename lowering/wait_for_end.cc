// Which products wait: a walk from what rows, conditions and faults need, then the bytes that waiting would keep.
#include "lowering/wait_for_end.h"

#include <algorithm>
#include <set>

#include "lowering/absorb.h"
#include "lowering/segment_facts.h"

namespace rml {

namespace {

void for_each_condition(const Core& core, ValueId v, const std::function<void(ValueId)>& f) {
  for (ClockId c = core[v].clock; c.index >= 2; c = core[c].parent) f(core[c].condition);
}

std::int64_t bytes_of(const Core& core, ValueId v) {
  return *element_count(core[v].shape) * static_cast<std::int64_t>(byte_size(core[v].dtype));
}

void split_leading(std::vector<PassPlan>& passes, const std::function<bool(ValueId)>& waits) {
  PassPlan leading, second;
  for (const PassItem& i : passes[0].items) (waits(i.value) ? second : leading).items.push_back(i);
  passes[0] = std::move(leading);
  if (!second.items.empty()) passes.insert(passes.begin() + 1, std::move(second));
}

// And what is computed from them, and what from that.
void add_users(const Core& core, const std::vector<PassItem>& items, std::set<ValueId>& all) {
  for (std::size_t before = 0; before != all.size();) {
    before = all.size();
    for (const PassItem& i : items) {
      bool uses = false;
      const auto look = [&](ValueId o) { uses = uses || all.contains(o); };
      for_each_operand(core[i.value].rhs, look);
      for_each_condition(core, i.value, look);
      if (uses) all.insert(i.value);
    }
  }
}

// Who looks from outside at what a unit computes.
class Outside {
 public:
  Outside(const Schedule& s, std::uint32_t unit, const WaitQuestions& ask)
      : schedule_(s),
        core_(*s.core),
        unit_(unit),
        facts_(core_, s.units[unit].clock, s.units[unit].plan.cut),
        ask_(ask) {
    for (const std::uint32_t u : waiting_units(s, unit)) units_[u] = true;
    for (const Port& p : core_.outputs) {
      told_.insert(from(p.value));
      for_each_condition(core_, p.value, [&](ValueId c) { told_.insert(from(c)); });
    }
  }

  // Nobody before the segment's end: others that compute what is told at its end only may wait as well.
  bool may_wait(ValueId v) const {
    if (facts_.present_last(v)) return true;
    if (told_.contains(v)) return false;
    for (std::uint32_t u = 0; u < schedule_.units.size(); ++u)
      if (u != unit_ && reads(u, v) && !unit_may_wait(u)) return false;
    return true;
  }
  // Faults, also those of inputs that are not there, come at their cycle, and calls in their order.
  bool has_its_cycle(ValueId v) const {
    const core::Rhs& rhs = core_[v].rhs;
    return ask_.checked(v) || can_fail(core_, v) || std::holds_alternative<core::Input>(rhs) ||
           std::holds_alternative<core::Call>(rhs);
  }
  // What others that wait keep of an instant.
  std::int64_t queued_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& [u, waits] : units_)
      for (const ValueId o : schedule_.units[u].operands) bytes += waits ? bytes_of(core_, o) : 0;
    return bytes;
  }

 private:
  ValueId from(ValueId v) const { return schedule_.sources[v.index].value; }
  bool reads(std::uint32_t u, ValueId v) const {
    return std::ranges::any_of(schedule_.units[u].operands, [&](ValueId o) { return from(o) == v; });
  }
  // Units of a network may go round in circles, over streams that a delay begins: such a circle does not wait.
  bool unit_may_wait(std::uint32_t u) const {
    if (const auto [at, added] = units_.emplace(u, false); !added) return at->second;
    const ScheduledUnit& unit = schedule_.units[u];
    return units_[u] = !unit.segmented &&
                       std::ranges::all_of(unit.values, [&](ValueId v) { return !has_its_cycle(v) && may_wait(v); });
  }

  const Schedule& schedule_;
  const Core& core_;
  std::uint32_t unit_;
  SegmentFacts facts_;
  const WaitQuestions& ask_;
  mutable std::map<std::uint32_t, bool> units_;
  std::set<ValueId> told_;  // by rows: outputs, and where they are present
};

// At each instant, for later passes; about.
std::int64_t kept_bytes(const Core& core, const std::vector<PassPlan>& passes,
                        const std::function<bool(ValueId)>& lies) {
  std::map<ValueId, std::set<std::size_t>> computed;
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const PassItem& i : passes[p].items) computed[i.value].insert(p);
  std::set<ValueId> kept;
  for (std::size_t p = 0; p < passes.size(); ++p)
    for (const PassItem& i : passes[p].items)
      for_each_operand(core[i.value].rhs, [&](ValueId o) {
        const auto at = computed.find(o);  // operands of the unit are there in the leading pass
        const bool here = at == computed.end() ? p == 0 : at->second == std::set<std::size_t>{p};
        if (!here && !core.is_const(o) && !lies(o)) kept.insert(o);
      });
  std::int64_t bytes = 0;
  for (const ValueId v : kept) bytes += bytes_of(core, v);
  return bytes;
}

}  // namespace

void wait_for_segment(const Core& core, const std::vector<ValueId>& roots, std::vector<PassPlan>& passes) {
  std::set<ValueId> here, early;
  for (const PassItem& i : passes[0].items) here.insert(i.value);
  std::vector<ValueId> work = roots;
  while (!work.empty()) {
    const ValueId v = work.back();
    work.pop_back();
    if (!here.contains(v) || !early.insert(v).second) continue;
    for_each_operand(core[v].rhs, [&](ValueId o) { work.push_back(o); });
    for_each_condition(core, v, [&](ValueId o) { work.push_back(o); });
  }
  split_leading(passes, [&](ValueId v) { return !early.contains(v); });
}

void wait_for_products(const Schedule& schedule, std::uint32_t unit, std::vector<ValueId> early,
                       std::vector<PassPlan>& passes, const WaitQuestions& ask) {
  const Core& core = *schedule.core;
  const ScheduledUnit& of = schedule.units[unit];
  const Outside outside(schedule, unit, ask);
  for (const PassItem& i : passes[0].items)
    if (!outside.may_wait(i.value) || outside.has_its_cycle(i.value)) early.push_back(i.value);
  std::vector<PassPlan> trial = passes;
  wait_for_segment(core, early, trial);
  if (trial.size() == passes.size()) return;
  std::set<ValueId> second, waiting;
  for (const PassItem& i : trial[1].items) second.insert(i.value);
  for (const auto& [v, batch] : time_batch(core, of.clock, of.plan.cut, trial, ask.batch))
    if (!batch.sum && second.contains(v)) waiting.insert(v);
  if (waiting.empty()) return;
  add_users(core, passes[0].items, waiting);
  trial = passes;
  split_leading(trial, [&](ValueId v) { return waiting.contains(v); });
  const std::int64_t kept = kept_bytes(core, trial, ask.lies) + outside.queued_bytes();
  if (kept <= 2 * kept_bytes(core, passes, ask.lies)) passes = std::move(trial);
}

}  // namespace rml
