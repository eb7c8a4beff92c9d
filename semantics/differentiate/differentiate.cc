// The rounds of differentiation.
//
// Each round checks the current program. A node that contains a `diff` counts as erroneous until
// the `diff` is expanded. Expanded code may contain another `diff`, which the next round expands.
#include "semantics/differentiate/differentiate.h"

#include <algorithm>

#include "semantics/differentiate/call.h"
#include "semantics/differentiate/node.h"

namespace rml {

namespace {

bool is_sound(const Checked& checked, NodeId node) {
  const auto has_none = [&](const auto& tables) {
    return node.index < tables.size() && !tables[node.index].has_errors;
  };
  if (!has_none(checked.names.nodes) || !has_none(checked.types.nodes) || !has_none(checked.clocks.nodes)) return false;
  return std::ranges::all_of(checked.names.nodes[node.index].callees,
                             [&](NodeId callee) { return is_sound(checked, callee); });
}

// Expands all calls that can be expanded now. Returns true if anything changed.
bool expand_round(Derivatives& derivatives) {
  derivatives.check();
  bool changed = false;
  for (const DiffCall& call : derivatives.checked().names.diff_calls) {
    if (!is_sound(derivatives.checked(), call.of)) continue;
    if (call.optimizer.valid() && !is_sound(derivatives.checked(), call.optimizer)) continue;
    expand_call(derivatives, call);
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<NodeId> derived_nodes(Program& program, NodeId node, Diagnostics& diagnostics) {
  Diagnostics found;
  Derivatives derivatives(program, found, derive_node);
  derivatives.check();
  const Derivative& derived = derivatives.derive(derivatives.outermost(node));
  diagnostics.append_new(found);
  if (derived.failed) return {};
  return derived.written ? std::vector{derived.node} : derivatives.made();
}

void differentiate(Program& program, Diagnostics& diagnostics) {
  Diagnostics found;
  Derivatives derivatives(program, found, derive_node);
  while (expand_round(derivatives)) {
  }
  diagnostics.append_new(found);  // a node that is derived for two uses refuses the same expression twice
}

}  // namespace rml
