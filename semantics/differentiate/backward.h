// The backward pass over one node: adjoints of its variables, from those of its outputs.
//
// Each useful variable v has an act, a Boolean on the clock of v, and an adjoint dv on `clock(v) on act`. Equations
// are taken users first; each passes the adjoint of its variable down its expression, to the variables in it. Where
// users form a cycle (a recurrence), one variable's act and adjoint get their names before their equations:
//
//   h = tanh(w * fby_end(end, 0.0, h) + x);
//
//   bp_h = if bp then true else bp_i;                        what uses h: the output, the delay
//   dh = ((merge bp do 0.0) + (merge bp_i di 0.0)) when bp_h;
#pragma once

#include <vector>

#include "semantics/differentiate/flow.h"

namespace rml::derivation {

// The adjoint of an output as it is given.
struct Seed {
  std::uint32_t variable;
  Symbol act;
  ExprId adjoint;
};

// By variable; not given: it has none.
std::vector<Adjoint> pass_backward(Derivation& d, const std::vector<Seed>& seeds);

}  // namespace rml::derivation
