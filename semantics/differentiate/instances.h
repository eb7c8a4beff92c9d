// Gradients of parameters and of instances of nodes: a parameter changes by its adjoint; an
// instance of g becomes an instance of the node derived from g.
#pragma once

#include <optional>

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

void move_parameter(Derivation& d, ExprId e, const Flow& flow);
// Adds the contributions of a call e. `adjoints` are those of its results.
void pass_on_instance(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on);

// The derivative of the callee of e for the activities of its results, each on the root of its
// clock; an activity that is not given means no adjoint. `maps`: as in DerivativeKey. Nothing if
// no result has an adjoint, or if there is no derivative.
std::optional<Derivative> derivative_of_callee(Derivation& d, ExprId e, const std::vector<Symbol>& acts,
                                               std::uint32_t maps);

// For each of the derivative's `bps`: the activity of its group.
std::vector<Symbol> acts_of_bps(Derivation& d, const Derivative& derived, const std::vector<Symbol>& acts,
                                const std::string& hint);

// The last arguments of a call of the derivative: the optimiser's arguments on the clocks of the
// call, and the inputs of `step_inputs`.
std::vector<ExprId> optimizer_arguments(Derivation& d, ExprId e, const Derivative& derived);

// The key of the callee's derivative if `outputs` have adjoints.
DerivativeKey callee_key(const NodeFacts& node, ExprId e, std::vector<std::uint32_t> outputs);

}  // namespace rml::derivation
