// Gives zeros to readers of values that are never computed. No unit computes values that no instant of any segment
// needs, but other units may read their streams.
#include <algorithm>

#include "lowering/schedule/passes.h"

namespace rml {

Schedule add_zeros(Schedule s) {
  if (std::ranges::all_of(s.units, [](const ScheduledUnit& u) { return u.idle.empty(); })) return s;
  auto core = std::make_shared<Core>(*s.core);
  for (ScheduledUnit& u : s.units)
    for (auto& [v, zero] : u.idle) {
      zero = ValueId{core->values.size()};
      Value none = (*core)[v];
      none.rhs = core::Const{Tensor(none.dtype, none.shape)};
      none.name.clear();
      core->values.push_back(std::move(none));
      s.unit_of.push_back(Schedule::nowhere);
      s.sources.push_back({zero, 0});
    }
  s.core = std::move(core);
  return s;
}

}  // namespace rml
