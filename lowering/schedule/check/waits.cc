// Builds the equations of waits.h. Units follow the units that they read, so the equations of their operands already
// exist.
#include "lowering/schedule/check/waits.h"

#include "semantics/core/queries.h"

namespace rml {

using Node = Crossings::Node;

Waits::Waits(const Schedule& s, Conditions& conditions, Crossings& crossings)
    : s_(s), core_(*s.core), conditions_(conditions), crossings_(crossings), early_(s.core->values.size()) {
  for (const ScheduledUnit& unit : s.units) {
    if (!unit.segmented)
      for (const ValueId v : unit.values) early_[v.index] = true;
    for (std::size_t k = 0; k < unit.plan.sweeps.size(); ++k)
      for (const SweepItem& i : unit.plan.sweeps[k].items) early_[i.value.index] = k == 0;
  }
}

Condition Waits::where_present(Literal l) {
  const Condition holds = conditions_.holds(l.condition);
  return conditions_.both(conditions_.ticks(core_[l.condition].clock), l.positive ? holds : !holds);
}

Condition Waits::ends(const ScheduledUnit& unit) {
  return conditions_.both(conditions_.ticks(unit.clock), where_present(unit.plan.cut));
}

// The equation `of` at the next instant of the clock.
Node Waits::after(ClockId clock, Node of) {
  const PortId p = crossings_.port(group);
  const Node beyond = crossings_.beyond(p);
  crossings_.ask(p, clock == base_clock ? of : crossings_.choice(conditions_.ticks(clock), of, beyond));
  return beyond;
}

Node Waits::of_clock(ClockId clock) {
  if (!clock.valid() || !core_[clock].condition.valid()) return Crossings::none;
  if (const auto known = clocks_.find(clock.index); known != clocks_.end()) return known->second;
  const ClockId parent = core_[clock].parent;
  const Node stream = of_stream(s_.sources[core_[clock].condition.index]);
  const Node inner = crossings_.choice(conditions_.ticks(parent), stream, Crossings::none);
  return clocks_[clock.index] = crossings_.all({of_clock(parent), inner});
}

Node Waits::of_column(ValueId v) {
  if (core_.is_const(v)) return Crossings::none;
  const ClockId clock = core_[v].clock;
  const Node stream = of_stream(s_.sources[v.index]);
  return crossings_.all({of_clock(clock), crossings_.choice(conditions_.ticks(clock), stream, Crossings::none)});
}

Node Waits::of_stream(StreamSource source) {
  const auto [known, is_new] = streams_.try_emplace({source.value, source.skip}, Crossings::none);
  if (!is_new) return known->second;
  Node found = of_value(source.value);
  if (source.skip > 0 && !core_.is_const(source.value))
    for (std::uint32_t k = 0; k < source.skip; ++k) found = after(core_[source.value].clock, found);
  return streams_[{source.value, source.skip}] = found;
}

Node Waits::of_value(ValueId v) {
  const std::uint32_t unit = s_.unit_of[v.index];
  if (unit == Schedule::nowhere) return Crossings::none;
  return early_[v.index] ? of_unit(unit) : of_end(unit);
}

Node Waits::of_reads(const ScheduledUnit& unit) {
  std::vector<Node> parts;
  for (std::size_t k = 0; k < unit.operands.size(); ++k) {
    const ValueId v = unit.operands[k];
    Condition looks = conditions_.ticks(core_[v].clock);
    for (const Literal& l : unit.needed[k]) looks = conditions_.both(looks, where_present(l));
    const StreamSource source = s_.sources[v.index];
    const Node stream = of_stream({source.value, source.skip - (unit.is_belated(v) ? 1 : 0)});
    parts.push_back(crossings_.choice(looks, stream, Crossings::none));
  }
  return crossings_.all(std::move(parts));
}

// The equation for an instant of the unit: which inputs the unit waits for.
Node Waits::of_unit(std::uint32_t number) {
  const auto [known, is_new] = units_.try_emplace(number, Crossings::none);
  if (!is_new) return known->second;
  const ScheduledUnit& unit = s_.units[number];
  const Node reads = of_reads(unit);
  if (reads == Crossings::none) return Crossings::none;
  const Crossings::Memory m = crossings_.memory();
  const Node before = crossings_.recall(m), now = crossings_.all({before, reads});
  crossings_.remember(m, crossings_.choice(conditions_.ticks(unit.clock), now, before));
  return units_[number] = now;
}

// The equation for the instant at which the values of a segment's end are available. If the unit
// looks back, that is its next instant.
Node Waits::of_end(std::uint32_t number) {
  const auto [known, is_new] = ends_.try_emplace(number, Crossings::none);
  if (!is_new) return known->second;
  const ScheduledUnit& unit = s_.units[number];
  const PortId p = crossings_.port(group);
  const Node there = unit.belated.empty() ? of_unit(number) : after(unit.clock, of_unit(number));
  const Node found = crossings_.choice(ends(unit), there, crossings_.beyond(p));
  crossings_.ask(p, found);
  return ends_[number] = found;
}

}  // namespace rml
