// Checks that the values of each recurrence without lookahead can be ordered within an instant.
#include <algorithm>

#include "lowering/schedule/passes.h"
#include "semantics/time/cycle_report.h"
#include "semantics/time/offsets.h"

namespace rml {

bool check_order(const Core& core, Diagnostics& diagnostics) {
  const DependenceGraph graph(core);
  const Components components = find_components(graph);
  for (const Component& c : components.list) {
    if (!c.cyclic || has_post(core, c)) continue;
    auto index = [&](ValueId v) {
      const auto at = std::lower_bound(c.values.begin(), c.values.end(), v);
      return at != c.values.end() && *at == v ? static_cast<std::uint32_t>(at - c.values.begin()) : UINT32_MAX;
    };
    std::uint32_t found = 0;
    const auto comp = strong_components(
        c.values.size(),
        [&](std::uint32_t i, auto&& f) {
          for (const Dependence& e : graph.of(c.values[i]))
            if (const std::uint32_t j = index(e.on); e.weight == 0 && j != UINT32_MAX) f(j);
        },
        found);
    const auto needs_itself = [&](ValueId v) {
      return std::ranges::any_of(graph.of(v), [&](const Dependence& e) { return e.weight == 0 && e.on == v; });
    };
    std::vector<std::uint32_t> size(found);
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (++size[comp[i]] == 2 || needs_itself(c.values[i])) {
        const ValueId v = c.values[i];
        auto& d = diagnostics.report(Code::E0701, core[v].span,
                                     "`" + describe(core, v) +
                                         "` and other values need each other within a cycle, "
                                         "under conditions that exclude each other");
        explain_cycle(core, find_cycle(graph, c.values, v, within_the_cycle), d);
        d.note(runs_on_demand);
        return false;
      }
  }
  return true;
}

}  // namespace rml
