// Tarjan's algorithm on the needed part of a core. Constants and values that nothing needs are
// left out, as are edges that can never be followed.
#include "semantics/core/components.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml {

Components find_components(const DependenceGraph& graph, const std::map<ValueId, ValueId>& ties) {
  const Core& core = graph.core();
  const std::size_t n = core.values.size();
  auto included = [&](ValueId v) { return !core.is_const(v) && !graph.demand(v).never; };
  std::uint32_t found = 0;
  auto successors = [&](std::uint32_t v, auto&& f) {
    if (!included(ValueId{v})) return;
    for (const Dependence& e : graph.of(ValueId{v}))
      if (included(e.on) && !graph.guard_of(ValueId{v}, e).never) f(e.on.index);
    if (const auto tie = ties.find(ValueId{v}); tie != ties.end()) f(tie->second.index);
  };
  const std::vector<std::uint32_t> component = strong_components(n, successors, found);

  Components out;
  out.of.assign(n, Components::none);
  std::vector<std::uint32_t> number(found, Components::none);
  // Tarjan's algorithm yields operands first; this order is kept.
  std::vector<std::vector<ValueId>> members(found);
  for (std::size_t i = 0; i < n; ++i)
    if (included(ValueId{i})) members[component[i]].push_back(ValueId{i});
  for (std::uint32_t c = 0; c < found; ++c) {
    if (members[c].empty()) continue;
    Component comp;
    comp.values = std::move(members[c]);
    comp.clock = core[comp.values[0]].clock;
    for (ValueId v : comp.values) {
      comp.clock = common_clock(core, comp.clock, core[v].clock);
      out.of[v.index] = static_cast<std::uint32_t>(out.list.size());
    }
    comp.cyclic = comp.values.size() > 1;
    if (!comp.cyclic)
      successors(comp.values[0].index, [&](std::uint32_t w) { comp.cyclic |= w == comp.values[0].index; });
    out.list.push_back(std::move(comp));
  }
  return out;
}

}  // namespace rml
