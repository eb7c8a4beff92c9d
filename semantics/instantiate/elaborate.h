// Elaboration, the first half of instantiate: inlines every node reached from the entry and
// writes one draft value per expression (draft.h). Shapes and static values are determined later.
#pragma once

#include "semantics/check/checked.h"
#include "semantics/instantiate/draft.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/options.h"

namespace rml::draft {

// Counts of elaborated items, over the entry and the bodies of iterations, which are elaborated
// separately.
struct Elaboration {
  std::uint64_t instances = 0, equations = 0;
  std::optional<Diagnostic> excess;  // the exceeded limit; elaboration then stops
};

// The node at which elaboration begins, and its context.
struct Entry {
  const Checked& checked;
  const InstantiateOptions& options;
  const InstantiateBody& instantiate_body;  // instantiates the bodies of iterations; outlives the draft
  NodeId node;
  const Given* given = nullptr;  // for a node that is iterated: the operands of the iteration
  Depth depth = {};              // nesting depth of the node
};

// If a limit is exceeded, reports it and returns an incomplete draft.
Draft elaborate(const Entry& entry, Elaboration& whole, Diagnostics& diagnostics);

}  // namespace rml::draft
