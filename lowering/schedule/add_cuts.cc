// The end of a segment is a condition of the core, like any other, for what is made of the schedule next. One that was
// found as `not c` becomes a value; no unit computes it.
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
