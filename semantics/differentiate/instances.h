// What parameters and instances of nodes pass on: a parameter moves by its adjoint, an instance of g becomes one of
// the node derived from g.
#pragma once

#include <optional>

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

void move_parameter(Derivation& d, ExprId e, const Flow& flow);
// adjoints: of the results.
void pass_on_instance(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on);

// What is derived of the callee of e, for the activities of its results, each on the root of its clock; not given: it
// has no adjoint. maps: of its key. Nothing where no result has an adjoint, or where it cannot be derived.
std::optional<Derivative> derivative_of_callee(Derivation& d, ExprId e, const std::vector<Symbol>& acts,
                                               std::uint32_t maps);

// Where each of the `bps` of what was derived holds: the act of its group.
std::vector<Symbol> acts_of_bps(Derivation& d, const Derivative& derived, const std::vector<Symbol>& acts,
                                const std::string& hint);

// Behind the adjoints of a call of what was derived: the optimizer's arguments, on the clocks of the call, and what it
// is told of steps.
std::vector<ExprId> optimizer_arguments(Derivation& d, ExprId e, const Derivative& derived);

// What the derivative of the callee of e is asked with, where `outputs` have adjoints.
DerivativeKey callee_key(const NodeFacts& node, ExprId e, std::vector<std::uint32_t> outputs);

}  // namespace rml::derivation
