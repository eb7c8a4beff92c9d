// Moves values between clocks of a core: inwards by sampling, outwards by merging with another
// value.
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
  // v at the instants of a clock sampled from its own. Constants are present on any clock.
  ValueId sampled(ValueId v, ClockId clock);
  // v, which is on `inner` or constant, on the clock `outer` around it. Where v is absent, the
  // result is `other`, which is on `outer` or constant.
  ValueId padded(ValueId v, ClockId inner, ClockId outer, ValueId other);

 private:
  ValueId add(core::Rhs, ValueId like, ClockId);

  Core& core_;
  ClockTable clocks_;
  std::map<std::pair<ValueId, ClockId>, ValueId> sampled_;
};

}  // namespace rml::mapped
