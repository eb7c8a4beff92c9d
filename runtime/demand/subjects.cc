// Equations keep their numbers; clocks and searches follow them.
#include "runtime/demand/subjects.h"

namespace rml::rt::demand {

namespace {

constexpr std::uint32_t every_cycle = 0;

Equation::Kind kind_of(const rml_equation& row) {
  const bool sampled = row.clock != every_cycle;
  switch (row.kind) {
    case RML_EQ_CONSTANT:
      return Equation::constant;
    case RML_EQ_INPUT:
      return Equation::input;
    case RML_EQ_BODY:
      return Equation::body;
    case RML_EQ_RESULT:
      return Equation::result;
    case RML_EQ_SAMPLE:
      return Equation::same;
    case RML_EQ_MERGE:
      return Equation::merge;
    case RML_EQ_FBY:
      return sampled ? Equation::first_or_last : Equation::first_or_before;
    case RML_EQ_POST:
      return sampled ? Equation::next_found : Equation::after;
    case RML_EQ_PARAMETER:
      return Equation::parameter;
    default:
      return Equation::nothing;
  }
}

}  // namespace

Subject Subjects::add(Equation e, std::uint64_t size) {
  all.push_back(e);
  bytes.push_back(size);
  return static_cast<Subject>(all.size() - 1);
}

Subjects::Subjects(const rml_demand& table) : first_clock(table.n_equations) {
  for (std::uint32_t k = 0; k < table.n_equations; ++k) {
    const rml_equation& row = table.equations[k];
    add({kind_of(row), row.a, row.b, row.c, row.cut, row.constant}, row.bytes);
  }
  for (std::uint32_t k = 0; k < table.n_clocks; ++k) {
    const rml_sampled& clock = table.clocks[k];
    add({Equation::presence, presence(clock.parent), clock.condition, clock.positive, clock.cut}, 1);
  }
  for (std::uint32_t k = 0; k < table.n_equations; ++k) {
    const Subject clock = presence(table.equations[k].clock);
    if (all[k].kind == Equation::first_or_last)
      all[k].b = add({Equation::last, clock, all[k].b, 0, UINT32_MAX}, bytes[k]);
    if (all[k].kind == Equation::next_found) all[k].a = add({Equation::next, clock, all[k].a, 0, UINT32_MAX}, bytes[k]);
  }
  for (std::uint32_t k = 0; k < table.n_memories; ++k) {
    const Equation& fby = all[table.memories[k]];
    if (!fixed(fby.b)) memories.push_back(fby.b);
  }
  with_inputs.assign(all.size(), false);
  for (std::uint32_t k = 0; k < table.n_equations; ++k) {
    with_inputs[k] = all[k].kind == Equation::input;
    if (with_inputs[k] || all[k].kind == Equation::parameter) from_outside.push_back(k);
  }
  for (std::uint32_t k = 0; k < table.n_equations; ++k) {
    if (all[k].kind != Equation::body && all[k].kind != Equation::result) continue;
    const Equation& computed = all[k].kind == Equation::body ? all[k] : all[all[k].a];
    if (table.bodies[computed.a].effect == 0) continue;
    from_outside.push_back(k);
    with_inputs[k] = true;
  }
}

}  // namespace rml::rt::demand
