// Gradients of operators, by the rules of the operator table, and of subscripts.
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// `e`: an application of an operator, in any syntax. For other expressions, nothing is passed on.
void pass_on_application(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);
void pass_on_subscript(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);

}  // namespace rml::derivation
