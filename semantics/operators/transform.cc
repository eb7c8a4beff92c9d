// Transforms of whole sequences.
#include "semantics/operators/rules.h"

namespace rml {

std::vector<OperatorInfo> transform_operators() { return {}; }

}  // namespace rml
