// Gradients of `map`, `fold` and `scan`.
//
// The forward iteration also yields the states before each round. The backward one iterates in
// the opposite direction; its states are the adjoints of the states, and sums for the fixed
// arguments:
//
//   h, ys = scan f(h0; xs; w);
//
//   h, ys, hs = scan kept_f(h0; xs; w);                  a round of f, and the state before it
//   dh0, dw, dxs = scan[reverse] back_f(dh, 0; xs, hs, dys; w);
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// Adds the contributions of an iteration e. `adjoints` are those of its results.
void pass_on_iteration(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on);

}  // namespace rml::derivation
