// Identities of calls: the names and numbers from which the paths of instances, parameters and
// random draws are made. They follow from the order in the source. Differentiation copies them
// (ast::Call::identity), so that a node and its gradient have the same parameters and draws.
//
//   h = tanh(param(1.0) * dense(x) + dense(y) + uniform([]));     "h"  "dense"  "dense2"  "0"
#pragma once

#include <string>
#include <unordered_map>

#include "semantics/check/checked.h"

namespace rml {

// By ExprId, for calls of nodes, `param`, random operators and sums over parameters.
using CallIdentities = std::unordered_map<std::uint32_t, std::string>;
CallIdentities call_identities(const Program&, const Resolved&, NodeId);

}  // namespace rml
