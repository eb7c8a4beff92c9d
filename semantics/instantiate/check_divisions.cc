// A division in the library is reported at the call of the user that leads there.
#include "semantics/instantiate/check_divisions.h"

#include "semantics/core/queries.h"

namespace rml {

namespace {

bool of_library(const Program& program, const Core& core, InstanceId i) {
  return program.modules[program[core.instances[i.index].node].module.index].of_library;
}

// The place to report for a value, and a label for the value itself if that is elsewhere.
Span place_of(const Program& program, const Core& core, const Value& value) {
  InstanceId i = value.instance;
  if (!i.valid() || i.index >= core.instances.size() || !of_library(program, core, i)) return value.span;
  while (core.instances[i.index].parent.valid() && of_library(program, core, core.instances[i.index].parent))
    i = core.instances[i.index].parent;
  return core.instances[i.index].parent.valid() ? core.instances[i.index].call : value.span;
}

bool divides_by_zero(const Core& core, ValueId v) {
  const auto* apply = apply_of(core, v);
  return apply != nullptr && core[v].clock != never_clock && operators()[apply->op].lowering == Lowering::elementwise &&
         apply->operands.size() == 2 && core.is_const(apply->operands[1]) && can_fail(core, v);
}

}  // namespace

void check_divisions(const Program& program, const Core& core, Diagnostics& diagnostics) {
  for (const ExternalNode& external : core.externals)
    if (external.iteration != nullptr) check_divisions(program, external.iteration->body, diagnostics);
  for (std::size_t k = 0; k < core.values.size(); ++k) {
    const ValueId v{k};
    if (!divides_by_zero(core, v)) continue;
    const Span place = place_of(program, core, core[v]);
    const bool is_scalar = core[std::get<core::Apply>(core[v].rhs).operands[1]].shape.empty();
    Diagnostic& d = diagnostics.report(Code::E0312, place, "division by zero",
                                       is_scalar ? "the divisor is 0" : "an element of the divisor is 0");
    if (!(place == core[v].span)) d.label(core[v].span, "the division");
    d.note("a run stops at the first cycle at which this quotient of integers is needed");
    d.note("to divide only where the divisor is not 0, write `if n == 0 then … else m / n`");
  }
}

}  // namespace rml
