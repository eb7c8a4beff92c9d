// Which values a run needs at which cycles, as far as a world determines it (boolean_world.h): the outputs, all that
// may stop the run, the memories, and the operands of these.
#pragma once

#include "lowering/schedule/check/boolean_world.h"

namespace rml {

class Needs {
 public:
  Needs(const Core&, const BooleanWorld&);

  Cycles of(ValueId v) const { return needed_[v.index]; }

  // Calls f(operand, cycles) for each operand that v needs in the same cycles in which v itself is needed. A merge
  // needs the branch that is taken, a delay needs its first value at its first instant, and every value needs the
  // condition of its clock.
  template <class F>
  void within_cycle(ValueId v, Cycles where, const F& f) const;

 private:
  void need(ValueId v, Cycles where);
  void need_clock(ClockId);
  void spread(ValueId v, Cycles where);
  void spread_delay(ValueId v, Cycles where);

  const Core& core_;
  const BooleanWorld& world_;
  // One per value: the cycles at which it is needed, and those not processed yet.
  std::vector<Cycles> needed_, pending_;
  std::vector<ValueId> work_;
};

template <class F>
void Needs::within_cycle(ValueId v, Cycles where, const F& f) const {
  if (where == 0) return;
  const Value& value = core_[v];
  if (value.clock.valid() && core_[value.clock].parent.valid() && !core_.is_const(v))
    f(core_[value.clock].condition, where);
  if (const auto* m = std::get_if<core::Merge>(&value.rhs)) {
    f(m->condition, where);
    f(m->on_true, where & world_.yes(m->condition));
    f(m->on_false, where & world_.no(m->condition));
  } else if (const auto* d = std::get_if<core::Fby>(&value.rhs)) {
    if (core_.is_const(d->init)) return;
    const Cycles there = world_.present(value.clock);
    const Cycles first = there & (~there + 1);
    if (first != 0 && world_.before(value.clock, std::countr_zero(first)).kind == Neighbour::none)
      f(d->init, where & first);
  } else if (!std::holds_alternative<core::Post>(value.rhs)) {
    for_each_operand(value.rhs, [&](ValueId o) { f(o, where); });
  }
}

}  // namespace rml
