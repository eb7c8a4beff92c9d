// Differentiation of one node (see differentiate.h).
#pragma once

#include <string>

#include "semantics/differentiate/derivatives.h"

namespace rml {

// Makes the derived node with this `name` and sets `out` to its interface.
ast::Node derive_node(Derivatives& derivatives, const DerivativeKey& key, const std::string& name, Derivative& out);

}  // namespace rml
