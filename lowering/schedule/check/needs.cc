// Propagates needs from the roots along the equations, for all cycles of a value together, until a fixed point.
#include "lowering/schedule/check/needs.h"

#include "semantics/core/queries.h"

namespace rml {

Needs::Needs(const Core& core, const BooleanWorld& world)
    : core_(core), world_(world), needed_(core.values.size()), pending_(core.values.size()) {
  for (const Port& o : core.outputs) {
    need(o.value, ~Cycles{0});
    need_clock(core[o.value].clock);
  }
  for (const CoreAssert& a : core.asserts) need(a.condition, ~Cycles{0});
  for (const ValueId parameter : moving_parameters(core)) need(parameter, ~Cycles{0});
  for (std::size_t i = 0; i < core.values.size(); ++i)
    if (can_fail(core, ValueId{i})) need(ValueId{i}, ~Cycles{0});
  while (!work_.empty()) {
    const ValueId v = work_.back();
    work_.pop_back();
    const Cycles added = pending_[v.index];
    pending_[v.index] = 0;
    spread(v, added);
  }
}

// A value is needed only where it is known to be present.
void Needs::need(ValueId v, Cycles where) {
  if (core_.is_const(v)) return;
  const Cycles added = where & world_.present(core_[v].clock) & ~needed_[v.index];
  if (added == 0) return;
  needed_[v.index] |= added;
  if (pending_[v.index] == 0) work_.push_back(v);
  pending_[v.index] |= added;
}

// A reader of a clock needs to know at each instant of the surrounding clocks whether the clock ticks.
void Needs::need_clock(ClockId c) {
  for (; c.valid() && core_[c].parent.valid(); c = core_[c].parent) need(core_[c].condition, ~Cycles{0});
}

void Needs::spread(ValueId v, Cycles where) {
  within_cycle(v, where, [&](ValueId on, Cycles at) { need(on, at); });
  const core::Rhs& rhs = core_[v].rhs;
  if (std::holds_alternative<core::Fby>(rhs) || std::holds_alternative<core::Post>(rhs)) spread_delay(v, where);
}

// A delay on a sampled clock needs to know when the clock ticked before.
void Needs::spread_delay(ValueId v, Cycles where) {
  const ClockId clock = core_[v].clock;
  const auto* post = std::get_if<core::Post>(&core_[v].rhs);
  const ValueId other = post != nullptr ? post->operand : std::get<core::Fby>(core_[v].rhs).next;
  for_each_cycle(where, [&](int t) {
    const Neighbour at = post != nullptr ? world_.after(clock, t) : world_.before(clock, t);
    if (at.kind == Neighbour::at) need(other, Cycles{1} << at.cycle);
    if (post != nullptr || clock == base_clock) return;
    const Cycles earlier = (Cycles{1} << t) - 1;
    for (const ClockId c : ancestors(core_, clock)) need(core_[c].condition, earlier);
  });
}

}  // namespace rml
