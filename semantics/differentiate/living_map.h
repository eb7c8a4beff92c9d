// Gradients of a `map` whose node has memory, look-ahead or random draws. These exist once, so
// one `map` of the derived node computes both the values and the gradients, as for an instance
// (instances.h).
//
//   ys = map g(xs; w);      ys, dxs, dws = map each_g(xs, dys; w, bp);      dw = sum(dws, axis=0)
//
//   node each_g(x, dy, w, bp) -> (y, dx, dw)
//     y, bp_x, part_x, part_w = diff_g(x, w, bp, dy when bp);
//     dx = merge bp_x part_x 0.0;  dw = merge bp part_w 0.0;
#pragma once

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// Adds the contributions of a map with memory. `adjoints` are those of its results.
void pass_on_living_map(Derivation& d, ExprId e, const std::vector<Adjoint>& adjoints, const PassOn& pass_on);

}  // namespace rml::derivation
