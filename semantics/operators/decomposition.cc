// Linear algebra by LAPACK.
#include "semantics/operators/rules.h"

namespace rml {

std::vector<OperatorInfo> decomposition_operators() { return {}; }

}  // namespace rml
