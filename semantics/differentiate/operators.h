// What the application of an operator passes on, by the rules of the operators' table, and what a subscript does.
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// `e`: an operator's application, however written. Nothing is passed on by anything else.
void pass_on_application(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);
void pass_on_subscript(Derivation& d, ExprId e, Flow flow, const PassOn& pass_on);

}  // namespace rml::derivation
