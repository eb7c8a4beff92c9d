// Replaces a call of `diff f` by a call of the derived node. Its gradients, present where their
// activity holds, are padded with zeros:
//
//   y, dx = diff f(x, bp, dy);      y, dx2 = diff_f(x, bp, dy);   dx = merge bp dx2 0.0;
#pragma once

#include "semantics/differentiate/derivatives.h"

namespace rml {

// A call that cannot be expanded becomes ast::Error, with a diagnostic.
void expand_call(Derivatives& derivatives, const DiffCall& call);

}  // namespace rml
