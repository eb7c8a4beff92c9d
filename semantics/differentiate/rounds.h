// The nodes that a differentiated iteration calls in each round (see differentiate/iteration.h).
#pragma once

#include "semantics/differentiate/derivatives.h"

namespace rml::derivation {

// The parts of a backward iteration of g, as positions: `stacked` among g's outputs, the others
// among its inputs.
struct RoundFlow {
  std::vector<std::uint32_t> states, sequences, fixed, stacked;
  bool empty() const { return states.empty() && sequences.empty() && fixed.empty(); }
};

// Makes a node that computes g and additionally yields the states that it was given.
NodeId keep_states(Derivatives& derivatives, NodeId g, std::size_t states);

// Makes one backward round. States: the adjoints of g's states, then sums for the fixed
// arguments. Sequences: those of g, g's states before each round, the adjoints of g's stacked
// results. Results: the states, then the gradients of the sequences. `derived`: the interface of
// g's derivative.
NodeId write_backward_round(Derivatives& derivatives, NodeId g, const ast::Iteration& how, const Derivative& derived,
                            const RoundFlow& flow);

}  // namespace rml::derivation
