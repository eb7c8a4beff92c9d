// Gradients of operators, by the rules of the operator table, and of subscripts.
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// Passes the flow of an operator's application e to its operands. Ignores other expressions.
void pass_on_application(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);
void pass_on_subscript(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);

}  // namespace rml::derivation
