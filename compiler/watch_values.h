// --watch: variables of the source as outputs beside the node's own.
#pragma once

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// The variables whose path, `lstm.cell.h` say, matches the pattern (runtime/base/pattern.h), in their
// order; E0201 if there is none.
std::vector<Port> matching_watches(const Core&, const std::string& pattern, Diagnostics&);

// Those of all patterns become outputs, and Core::watched their number.
void watch_values(Core&, const std::vector<std::string>& patterns, Diagnostics&);

}  // namespace rml
