// Where in a segment a value is present, as far as its clock tells.
#pragma once

#include "lowering/schedule.h"
#include "lowering/step_writer.h"

namespace rml {

class SegmentFacts {
 public:
  SegmentFacts(const Core& core, ClockId clock, Literal cut) : core_(core), clock_(clock), cut_(cut) {}

  // true fby cut: where segments begin.
  bool marks_first(ValueId) const;
  // A condition that holds at the first instant of a segment, if anywhere.
  bool only_first(ValueId) const;
  // Present at the first instant only, if anywhere; at the last; at one instant of a segment.
  bool present_first(ValueId) const;
  bool present_last(ValueId) const;
  // Present at other instants than the first only.
  bool absent_first(ValueId) const;
  bool once(ValueId) const;
  // One that says the same: `first` instead of what marks it.
  steps::Test simplest(const steps::Test&) const;

 private:
  const Core& core_;
  ClockId clock_;
  Literal cut_;
};

}  // namespace rml
