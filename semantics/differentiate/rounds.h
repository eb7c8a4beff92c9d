// The nodes that a differentiated iteration calls in each round (see differentiate/iteration.h).
#pragma once

#include "semantics/differentiate/derivatives.h"

namespace rml::derivation {

// What takes part in an iteration of g backward: places among the inputs of g, or, of `stacked`, its outputs.
struct RoundFlow {
  std::vector<std::uint32_t> states, sequences, fixed, stacked;
  bool empty() const { return states.empty() && sequences.empty() && fixed.empty(); }
};

// g, and behind its results the states that it was given.
NodeId keep_states(Derivatives& derivatives, NodeId g, std::size_t states);

// One round backward. Its states: the adjoints of those of g, then sums for what is fixed; its sequences: those of g,
// g's states before each round, the adjoints of what g stacks. It yields the states, then the gradients of the
// sequences. `derived`: what calls the derivative of g.
NodeId write_backward_round(Derivatives& derivatives, NodeId g, const ast::Iteration& how, const Derivative& derived,
                            const RoundFlow& flow);

}  // namespace rml::derivation
