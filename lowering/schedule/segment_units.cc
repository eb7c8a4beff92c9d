// Joins components to units. A component joins a unit that it reads from, or a unit that waits for the same operands.
// In each instant the unit's own sweeps come first. The component's sweeps are appended to those of the same direction
// that do not precede the values they read.
#include "lowering/schedule/segment_units.h"

#include <algorithm>

namespace rml {

SegmentUnits::SegmentUnits(const DependenceGraph& graph, Schedule& out)
    : core_(graph.core()),
      graph_(graph),
      out_(out),
      asserted_(core_.values.size()),
      last_sweep_(core_.values.size(), Schedule::nowhere) {
  for (const CoreAssert& a : core_.asserts) asserted_[a.condition.index] = true;
}

std::uint32_t SegmentUnits::place(const Component& c, SegmentPlan plan, std::set<ValueId> late) {
  const bool may_join = joinable(c, plan);
  if (may_join)
    if (const auto host = host_of(c, plan, late))
      if (const auto sweeps = sweeps_in(*host, plan)) {
        take_in(*host, c, plan, *sweeps);
        return *host;
      }
  const auto unit = static_cast<std::uint32_t>(out_.units.size());
  ScheduledUnit& u = out_.units.emplace_back();
  u.segmented = true;
  u.clock = c.clock;
  Sweeps own;
  for (std::size_t p = 0; p < plan.sweeps.size(); ++p) own.push_back(p);
  u.plan = plan;
  for (SweepPlan& sweep : u.plan.sweeps) sweep.items.clear();
  take_in(unit, c, plan, own);
  if (may_join) {
    latest_[{plan.cut, late}] = unit;
    hosts_[unit] = std::move(late);
  }
  return unit;
}

bool SegmentUnits::joinable(const Component& c, const SegmentPlan& plan) const {
  if (!plan.only_at_cut.empty() || !plan.awaiting.empty()) return false;
  return std::ranges::all_of(c.values, [&](ValueId v) {
    const core::Rhs& rhs = core_[v].rhs;
    return core_[v].shape.empty() && !asserted_[v.index] && !std::holds_alternative<core::Call>(rhs) &&
           (!std::holds_alternative<core::Apply>(rhs) || only_computes(core_, v));
  });
}

// A component that reads the unit at every instant thereby waits for all operands of the unit.
bool SegmentUnits::waits_alike(const std::set<ValueId>& late, std::uint32_t unit) const {
  const std::set<ValueId>& there = hosts_.at(unit);
  const ClockId clock = out_.units[unit].clock;
  Guard present;
  for (const Literal& l : graph_.presence(clock)) graph_.add(present, l);
  const auto holds = [&](const Literal& l) { return present.contains(l); };
  std::size_t shared = 0;
  bool always = false;
  for (const ValueId v : late) {
    if (there.contains(v)) {
      ++shared;
    } else if (out_.unit_of[v.index] != unit) {
      return false;
    } else {
      always |= core_[v].clock == clock && std::ranges::all_of(graph_.demand(v).literals, holds);
    }
  }
  return always || shared == there.size();
}

std::optional<std::uint32_t> SegmentUnits::host_of(const Component& c, const SegmentPlan& plan,
                                                   const std::set<ValueId>& late) const {
  const auto suits = [&](std::uint32_t unit) {
    return out_.units[unit].plan.cut == plan.cut && out_.units[unit].clock == c.clock;
  };
  for (const ValueId v : late) {
    const std::uint32_t unit = out_.unit_of[v.index];
    if (hosts_.contains(unit) && suits(unit) && waits_alike(late, unit)) return unit;
  }
  const auto alike = latest_.find({plan.cut, late});
  return alike != latest_.end() && suits(alike->second) ? std::optional(alike->second) : std::nullopt;
}

// For each sweep of the plan: the sweep of the unit to which it is appended, or a new one after the last. The leading
// sweep stays the leading one.
std::optional<SegmentUnits::Sweeps> SegmentUnits::sweeps_in(std::uint32_t unit, const SegmentPlan& plan) const {
  const std::vector<SweepPlan>& there = out_.units[unit].plan.sweeps;
  Sweeps found;
  std::size_t next = 0;
  for (const SweepPlan& sweep : plan.sweeps) {
    for (const SweepItem& i : sweep.items)
      for (const Dependence& e : graph_.of(i.value))
        if (out_.unit_of[e.on.index] == unit && last_sweep_[e.on.index] == Schedule::nowhere) return std::nullopt;
    while (next < there.size() && !(there[next].backward == sweep.backward && fits(sweep, unit, next))) ++next;
    if (found.empty() && next > 0) return std::nullopt;
    found.push_back(next++);
  }
  return found;
}

// True if the values of the unit that the sweep reads are computed before, and those of the same instant not in a later
// sweep.
bool SegmentUnits::fits(const SweepPlan& sweep, std::uint32_t unit, std::size_t number) const {
  return std::ranges::all_of(sweep.items, [&](const SweepItem& i) {
    return std::ranges::all_of(graph_.of(i.value), [&](const Dependence& e) {
      if (out_.unit_of[e.on.index] != unit) return true;
      const std::size_t last = last_sweep_[e.on.index];
      return last < number || (last == number && (e.weight == 0 || (e.weight > 0) == sweep.backward));
    });
  });
}

void SegmentUnits::take_in(std::uint32_t unit, const Component& c, const SegmentPlan& plan, const Sweeps& sweeps) {
  ScheduledUnit& u = out_.units[unit];
  for (std::size_t p = 0; p < sweeps.size(); ++p) {
    if (sweeps[p] >= u.plan.sweeps.size()) u.plan.sweeps.push_back({plan.sweeps[p].backward, {}});
    std::vector<SweepItem>& items = u.plan.sweeps[sweeps[p]].items;
    items.insert(items.end(), plan.sweeps[p].items.begin(), plan.sweeps[p].items.end());
    for (const SweepItem& i : plan.sweeps[p].items) last_sweep_[i.value.index] = static_cast<std::uint32_t>(sweeps[p]);
  }
  for (const ValueId v : c.values) {
    out_.unit_of[v.index] = unit;
    u.values.push_back(v);
    if (last_sweep_[v.index] == Schedule::nowhere) u.idle.emplace_back(v, ValueId());
  }
}

}  // namespace rml
