// Splits a forward unit that reads segmented units. Its connected parts are found first. Parts without an assertion,
// and without a row outside the cuts, become a unit of their own.
#include <algorithm>
#include <map>
#include <set>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

// The connected parts of a unit, each identified by one of its values.
class Parts {
 public:
  Parts(const std::vector<ValueId>& values, const DependenceGraph& graph) {
    for (const ValueId v : values) parent_[v] = v;
    for (const ValueId v : values)
      for (const Dependence& e : graph.of(v))
        if (parent_.contains(e.on)) parent_[of(v)] = of(e.on);
  }

  ValueId of(ValueId v) {
    ValueId& up = parent_.at(v);
    return up == v ? v : up = of(up);
  }

 private:
  std::map<ValueId, ValueId> parent_;
};

bool holds_on(const Core& core, ClockId clock, Literal literal) {
  for (const ClockId c : ancestors(core, clock))
    if (core[c].condition == literal.condition && core[c].positive == literal.positive) return true;
  return false;
}

}  // namespace

Schedule split_units(Schedule s, const ScheduleFacts& facts) {
  const DependenceGraph& graph = facts.graph;
  const Core& core = *s.core;
  for (std::uint32_t u = 0, count = static_cast<std::uint32_t>(s.units.size()); u < count; ++u) {
    if (s.units[u].segmented) continue;
    std::set<Literal> cuts;  // cuts of the segmented units that it reads
    for (const ValueId v : s.units[u].values)
      for (const Dependence& e : graph.of(v))
        if (const std::uint32_t from = s.unit_of[s.sources[e.on.index].value.index];
            from != Schedule::nowhere && s.units[from].segmented)
          cuts.insert(s.units[from].plan.cut);
    if (cuts.empty()) continue;
    const auto at_cut = [&](const Port& o) {
      return std::ranges::any_of(cuts, [&](Literal c) { return holds_on(core, core[o.value].clock, c); });
    };
    Parts parts(s.units[u].values, graph);
    std::set<ValueId> early;
    for (const Port& o : core.outputs)
      if (const ValueId v = s.sources[o.value.index].value; s.unit_of[v.index] == u && !at_cut(o))
        early.insert(parts.of(v));
    for (const CoreAssert& a : core.asserts)
      if (s.unit_of[a.condition.index] == u) early.insert(parts.of(a.condition));
    const auto is_early = [&](ValueId v) { return early.contains(parts.of(v)); };
    ScheduledUnit later;
    std::ranges::copy_if(s.units[u].values, std::back_inserter(later.values), [&](ValueId v) { return !is_early(v); });
    if (early.empty() || later.values.empty()) continue;
    std::erase_if(s.units[u].values, [&](ValueId v) { return !is_early(v); });
    for (const ValueId v : later.values) s.unit_of[v.index] = static_cast<std::uint32_t>(s.units.size());
    s.units.push_back(std::move(later));
  }
  return s;
}

}  // namespace rml
