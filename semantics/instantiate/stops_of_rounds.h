// Moves the results of `stop_gradient` in the rounds of iterations out of the iterations.
//
//   node f(x) -> (y)                  ys = map f(xs);
//     y = x * stop_gradient(x);
//
// - told: the stopped value becomes an output of the body, and the iteration yields the values of
//   all rounds, stacked.
// - given: it becomes an input of the body, and the iteration takes one more sequence.
#pragma once

#include <cstdint>
#include <string>

#include "semantics/core/core.h"

namespace rml {

enum class Rounds : std::uint8_t { told, given };

// Adds the stopped values of bodies to the parameters of the core, in the same order in both
// modes. With `given`, the iteration takes zeros in their place, until the caller replaces the zeros
// by an input.
void bring_out_stops(Core&, Rounds);

// Replaces every use of v by a new input, inserted at this place among the inputs.
void make_input(Core&, ValueId v, const std::string& name, std::size_t place);

}  // namespace rml
