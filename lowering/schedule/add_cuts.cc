// Makes the end of a segment a condition of the core like any other, for the passes that follow. A cut that was found
// as `not c` becomes a value of its own, which no unit computes.
#include "lowering/schedule/passes.h"

namespace rml {

Schedule add_cuts(Schedule s) {
  std::shared_ptr<Core> core;
  for (ScheduledUnit& u : s.units) {
    if (!u.segmented) continue;
    const Literal found = u.plan.cut;
    u.cut = found.condition;
    if (found.positive) continue;
    if (core == nullptr) core = std::make_shared<Core>(*s.core);
    Value negation = (*core)[found.condition];
    negation.rhs = core::Apply{operators().require("logical_not"), {found.condition}, {}, 0};
    negation.name.clear();
    u.cut = ValueId{core->values.size()};
    core->values.push_back(std::move(negation));
    s.unit_of.push_back(Schedule::nowhere);
    s.sources.push_back({u.cut, 0});
  }
  if (core != nullptr) s.core = std::move(core);
  return s;
}

}  // namespace rml
