// Sorts units topologically by the units that they read, using strongly connected components; empty units are removed.
#include <algorithm>

#include "lowering/schedule/passes.h"

namespace rml {

namespace {

// By unit: the units that it reads for its values and for the conditions of its segments.
std::vector<std::vector<std::uint32_t>> find_needs(const Schedule& s, const DependenceGraph& graph) {
  std::vector<std::vector<std::uint32_t>> needs(s.units.size());
  const auto need = [&](std::uint32_t unit, ValueId v) {
    const ValueId on = s.sources[v.index].value;
    const std::uint32_t from = s.unit_of[on.index];
    if (from != Schedule::nowhere && from != unit && !s.is_delayed(on)) needs[unit].push_back(from);
  };
  for (std::size_t i = 0; i < s.core->values.size(); ++i)
    if (const std::uint32_t u = s.unit_of[i]; u != Schedule::nowhere)
      for (const Dependence& e : graph.of(ValueId{i})) need(u, e.on);
  for (std::uint32_t u = 0; u < s.units.size(); ++u) {
    if (!s.units[u].segmented) continue;
    const SegmentPlan& plan = s.units[u].plan;
    need(u, plan.cut.condition);
    for (const Literal& l : plan.only_at_cut) need(u, l.condition);
  }
  return needs;
}

}  // namespace

Schedule drop_empty_units(Schedule s) {
  std::vector<std::uint32_t> now;
  std::uint32_t kept = 0;
  for (const ScheduledUnit& u : s.units) now.push_back(u.values.empty() ? Schedule::nowhere : kept++);
  for (std::uint32_t& u : s.unit_of)
    if (u != Schedule::nowhere) u = now[u];
  std::erase_if(s.units, [](const ScheduledUnit& u) { return u.values.empty(); });
  return s;
}

Schedule sort_units(Schedule s, const ScheduleFacts& facts) {
  s = drop_empty_units(std::move(s));
  const std::vector<std::vector<std::uint32_t>> needs = find_needs(s, facts.graph);
  std::uint32_t found = 0;
  const auto order = strong_components(
      s.units.size(),
      [&](std::uint32_t u, auto&& f) {
        for (std::uint32_t w : needs[u]) f(w);
      },
      found);
  std::vector<ScheduledUnit> sorted(s.units.size());
  for (std::size_t u = 0; u < sorted.size(); ++u) sorted[order[u]] = std::move(s.units[u]);
  s.units = std::move(sorted);
  for (std::uint32_t& u : s.unit_of)
    if (u != Schedule::nowhere) u = order[u];
  return s;
}

}  // namespace rml
