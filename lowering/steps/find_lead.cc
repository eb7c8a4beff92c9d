// Finds the lead in two walks: a forward walk finds the values that depend on an input; then statements that no leading
// output depends on are removed.
//
//   o := cell 0; x := input; y = o + 1; s = o + x; output y := y; cell 0 := s
//
// has the lead `o := cell 0; y = o + 1; output y := y`. A call with external effects is not part of the lead: it must
// run once per cycle, with the inputs.
#include "lowering/steps/find_lead.h"

#include <algorithm>

#include "lowering/steps/drop_unused.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

class Lead {
 public:
  explicit Lead(const Core& core) : core_(core), waits_(core.values.size()) {}

  // The statements that do not depend on an input. If `waiting`, the block is under a test that depends on one.
  steps::Block part_of(const steps::Block& block, bool waiting) {
    steps::Block part;
    for (const steps::Statement& s : block.statements) std::visit([&](const auto& x) { take(x, waiting, part); }, s);
    return part;
  }

 private:
  void define(ValueId v, bool waits) { waits_[v.index] = waits_[v.index] || waits; }

  // True if the value depends on an input. A result waits if its call does.
  bool waits(ValueId v) const {
    const auto* result = std::get_if<core::Result>(&core_[v].rhs);
    return waits_[result != nullptr ? result->call.index : v.index];
  }

  bool has_effect(ValueId v) const {
    const auto* call = std::get_if<core::Call>(&core_[v].rhs);
    return call != nullptr && !is_repeatable(core_.externals[call->external]);
  }

  void take(const steps::Compute& s, bool waiting, steps::Block& part) {
    bool must_wait = waiting || has_effect(s.value);
    for_each_operand(core_[s.value].rhs, [&](ValueId o) { must_wait = must_wait || waits(o); });
    define(s.value, must_wait);
    if (!must_wait) part.statements.emplace_back(s);
  }
  void take(const steps::Copy& s, bool waiting, steps::Block& part) {
    define(s.to, waiting || waits(s.from));
    if (!waiting && !waits(s.from)) part.statements.emplace_back(s);
  }
  void take(const steps::LoadCell& s, bool waiting, steps::Block& part) {
    define(s.value, waiting);
    if (!waiting) part.statements.emplace_back(s);
  }
  void take(const steps::LoadInput& s, bool, steps::Block&) { define(s.value, true); }
  void take(const steps::StoreOutput& s, bool waiting, steps::Block& part) {
    const bool watched = s.output >= core_.outputs.size() - core_.watched;
    if (!waiting && !watched && !waits(s.value)) part.statements.emplace_back(s);
  }
  void take(const steps::Branch& s, bool waiting, steps::Block& part) {
    const bool must_wait = waiting || s.test.kind != steps::Test::value || waits(s.test.condition);
    steps::Branch branch{s.test, std::make_unique<steps::Block>(part_of(*s.then_block, must_wait)),
                         std::make_unique<steps::Block>(part_of(*s.else_block, must_wait))};
    if (!must_wait) part.statements.emplace_back(std::move(branch));
  }
  // The lead omits stores, and statements that may stop the run.
  template <class Other>
  void take(const Other&, bool, steps::Block&) {}

  const Core& core_;
  std::vector<bool> waits_;  // one per ValueId: true if it depends on an input
};

steps::Block copy(const steps::Block& block) {
  steps::Block result;
  const auto add = [&]<class S>(const S& s) {
    if constexpr (std::is_same_v<S, steps::Branch>)
      result.statements.emplace_back(steps::Branch{s.test, std::make_unique<steps::Block>(copy(*s.then_block)),
                                                   std::make_unique<steps::Block>(copy(*s.else_block))});
    else
      result.statements.emplace_back(s);
  };
  for (const steps::Statement& s : block.statements) std::visit(add, s);
  return result;
}

}  // namespace

void find_lead(steps::Program& program) {
  program.lead = {};
  if (!program.straight || program.core->inputs.empty()) return;
  steps::Block lead = Lead(*program.core).part_of(program.units.at(0).instant, false);
  keep_outputs(*program.core, lead);
  program.lead = std::move(lead);
}

steps::Program leading_program(const steps::Program& program) {
  steps::Program leading;
  leading.core = program.core;
  leading.bodies = program.bodies;
  leading.straight = true;
  leading.cells = program.cells;
  leading.units.emplace_back();
  leading.units[0].clock = base_clock;
  leading.units[0].name = program.units.at(0).name + "_lead";
  leading.units[0].instant = copy(program.lead);
  leading.sites = program.sites;
  leading.value_sites = program.value_sites;
  leading.parameters = program.parameters;
  leading.inlined = program.inlined;
  leading.windows = program.windows;
  leading.packs = program.packs;
  return leading;
}

}  // namespace rml
