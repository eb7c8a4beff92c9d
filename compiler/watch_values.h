// Makes variables of the source outputs of the program, after the node's own (--watch).
#pragma once

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// Returns the variables whose path (for example `lstm.cell.h`) matches the pattern
// (runtime/base/pattern.h), in their order. Reports E0201 if there is none.
std::vector<Port> matching_watches(const Core&, const std::string& pattern, Diagnostics&);

// Appends the variables of all patterns to the outputs and stores their number in Core::watched.
void watch_values(Core&, const std::vector<std::string>& patterns, Diagnostics&);

}  // namespace rml
