// The backward pass over one node: the adjoints of its variables, from the adjoints of its
// outputs.
//
// Each useful variable v has an activity, a Boolean on the clock of v, and an adjoint dv on
// `clock(v) on act`. Equations are taken users first; each passes the adjoint of its variable
// down its expression to the variables in it. If users form a cycle (a recurrence), the activity
// and adjoint of one variable get their names before their equations are written:
//
//   h = tanh(w * fby_end(end, 0.0, h) + x);
//
//   bp_h = if bp then true else bp_i;                        uses of h: the output, the delay
//   dh = ((merge bp do 0.0) + (merge bp_i di 0.0)) when bp_h;
#pragma once

#include <vector>

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// The given adjoint of an output.
struct Seed {
  std::uint32_t variable;
  Symbol act;
  ExprId adjoint;
};

// By variable; an adjoint that is not given means that the variable has none.
std::vector<Adjoint> pass_backward(Derivation& d, const std::vector<Seed>& seeds);

}  // namespace rml::derivation
