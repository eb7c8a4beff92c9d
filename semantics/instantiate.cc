// Instantiation: from checked nodes to one flat core (see instantiate.h).
//
// Four steps, each a file family of its own: elaboration inlines all nodes into drafts;
// aliases are resolved; shapes and static values are solved; what is left is emitted.
//
//   node counter() -> (o) o = 0 fby u; u = o + 1;
//     %0 = const 0    %1 = fby %0 %3    %2 = const 1    %3 = add %1 %2
#include "semantics/instantiate.h"

#include "semantics/instantiate_aliases.h"
#include "semantics/instantiate_elaborate.h"
#include "semantics/instantiate_emit.h"
#include "semantics/solve_shapes.h"

namespace rml {

Core instantiate(const Checked& checked, NodeId entry, const InstantiateOptions& options, Diagnostics& diagnostics) {
  const Program& program = *checked.program;
  Core core;
  core.clocks.resize(2);
  if (!diagnostics.has_errors()) {
    draft::Draft draft = draft::Elaborator(checked, options, diagnostics).run(entry);
    draft::resolve_aliases(draft, program, diagnostics);
    const draft::States states = draft::solve_shapes(draft, program, diagnostics);
    if (!diagnostics.has_errors()) core = draft::emit(draft, states, program, diagnostics);
  }
  core.entry = program.text(program[entry].name);
  return core;
}

bool check_open(const Checked& checked, NodeId node, InstantiateOptions options, Diagnostics& diagnostics) {
  const Program& program = *checked.program;
  options.open = true;
  draft::Draft draft = draft::Elaborator(checked, options, diagnostics).run(node);
  draft::resolve_aliases(draft, program, diagnostics);
  const draft::States states = draft::solve_shapes(draft, program, diagnostics);
  for (std::size_t v = 0; v < states.size(); ++v)
    if (!states[v].known && !std::holds_alternative<draft::Alias>(draft.values[v].rhs)) return false;
  return true;
}

}  // namespace rml
