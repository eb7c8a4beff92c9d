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

namespace {

using namespace draft;

// Elaboration and the two steps that say what is wrong with it; nothing when a limit is exceeded.
struct Solved {
  Draft draft;
  States states;
};
std::optional<Solved> solve(const Checked& checked, NodeId node, const InstantiateOptions& options, Elaboration& whole,
                            Diagnostics& diagnostics) {
  Solved solved{Elaborator(checked, options, whole, {}, diagnostics).run(node), {}};
  if (whole.excess) return std::nullopt;
  resolve_aliases(solved.draft, *checked.program, diagnostics);
  solved.states = solve_shapes(solved.draft, *checked.program, diagnostics);
  return solved;
}

}  // namespace

Core instantiate(const Checked& checked, NodeId entry, const InstantiateOptions& options, Diagnostics& diagnostics) {
  const Program& program = *checked.program;
  Core core;
  core.clocks.resize(2);
  if (!diagnostics.has_errors()) {
    Elaboration whole;
    const auto solved = solve(checked, entry, options, whole, diagnostics);
    if (!diagnostics.has_errors()) core = emit(solved->draft, solved->states, program, diagnostics);
  }
  core.entry = program.text(program[entry].name);
  return core;
}

bool check_open(const Checked& checked, NodeId node, InstantiateOptions options, Diagnostics& diagnostics) {
  options.open = true;
  Elaboration whole;
  const auto solved = solve(checked, node, options, whole, diagnostics);
  if (!solved) return false;
  for (std::size_t v = 0; v < solved->states.size(); ++v)
    if (!solved->states[v].known && !std::holds_alternative<Alias>(solved->draft.values[v].rhs)) return false;
  return true;
}

}  // namespace rml
