// Operators that read or write elements at places found while running, and those that reorder them.
#include "semantics/operators/rules.h"

namespace rml {

std::vector<OperatorInfo> indexing_operators() { return {}; }

}  // namespace rml
