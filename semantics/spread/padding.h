// Values brought from one clock of a core to another: sampled inwards, and merged with something else outwards.
#pragma once

#include <map>

#include "semantics/core/core.h"
#include "semantics/simplify/passes.h"

namespace rml::mapped {

class Padding {
 public:
  explicit Padding(Core& core) : core_(core), clocks_(core) {}

  ClockId on(ClockId parent, ValueId condition, bool positive) { return clocks_.on(parent, condition, positive); }
  ValueId constant(Tensor);
  // v at the instants of a clock within its own. Constants are present anywhere.
  ValueId sampled(ValueId v, ClockId clock);
  // v on a clock around its own: where v is not there, `other`, which is on that clock or constant.
  ValueId padded(ValueId v, ClockId clock, ValueId other);

 private:
  ValueId add(core::Rhs, ValueId like, ClockId);

  Core& core_;
  ClockTable clocks_;
  std::map<std::pair<ValueId, ClockId>, ValueId> sampled_;
};

}  // namespace rml::mapped
