// Computes gradients of branches, samplings and delays.
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

void pass_on_when(Derivation& d, const ast::When& x, const Flow& flow, const PassOn& pass_on);
void pass_on_merge(Derivation& d, const ast::Merge& x, const Flow& flow, const PassOn& pass_on);
void pass_on_if(Derivation& d, const ast::If& x, const Flow& flow, const PassOn& pass_on);
void pass_on_fby(Derivation& d, ExprId e, const ast::Fby& x, const Flow& flow, const PassOn& pass_on);
void pass_on_post(Derivation& d, const ast::Post& x, const Flow& flow, const PassOn& pass_on);

}  // namespace rml::derivation
