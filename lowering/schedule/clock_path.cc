// Walks from the inner clock to the outer one, and collects one literal for each clock.
#include "lowering/schedule/clock_path.h"

#include "semantics/core/queries.h"

namespace rml {

std::vector<Literal> clock_path(const Core& core, ClockId from, ClockId to) {
  std::vector<Literal> path;
  for (const ClockId c : path_to(core, to, from)) path.push_back({core[c].condition, core[c].positive});
  return path;
}

}  // namespace rml
