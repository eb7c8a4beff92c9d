// Elaboration: the first half of instantiate. Inlines every node reached from the entry
// and writes one draft per expression (draft.h); shapes and static values come later.
#pragma once

#include "semantics/check/checked.h"
#include "semantics/instantiate/draft.h"
#include "semantics/instantiate/iteration.h"
#include "semantics/instantiate/options.h"

namespace rml::draft {

// What has been elaborated of a program, bodies of iterations included, which are elaborated one by one.
struct Elaboration {
  std::uint64_t instances = 0, equations = 0;
  std::optional<Diagnostic> excess;  // the limit that is exceeded: nothing more is elaborated
};

// The node that elaboration begins with, and as part of what.
struct Entry {
  const Checked& checked;
  const InstantiateOptions& options;
  const InstantiateBody& instantiate_body;  // of nodes that are iterated; it outlives the draft
  NodeId node;
  const Given* given = nullptr;  // of a node that is iterated: its operands
  Depth depth = {};              // within which it stands
};

// Not whole, with a diagnostic, when a limit is exceeded.
Draft elaborate(const Entry& entry, Elaboration& whole, Diagnostics& diagnostics);

}  // namespace rml::draft
