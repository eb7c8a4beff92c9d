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
  // v, which is on a clock or constant, on one around that: elsewhere `other`, which is on the outer one or constant.
  ValueId padded(ValueId v, ClockId inner, ClockId outer, ValueId other);

 private:
  ValueId add(core::Rhs, ValueId like, ClockId);

  Core& core_;
  ClockTable clocks_;
  std::map<std::pair<ValueId, ClockId>, ValueId> sampled_;
};

}  // namespace rml::mapped
