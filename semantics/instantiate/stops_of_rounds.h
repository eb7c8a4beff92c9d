// What `stop_gradient` yields in the rounds of iterations, brought out of them.
//
//   node f(x) -> (y)                  ys = map f(xs);
//     y = x * stop_gradient(x);
//
//   told    what is stopped is an output of the body: the iteration yields that of all rounds, stacked
//   given   it is an input of the body, which takes an element of one sequence more
#pragma once

#include <cstdint>
#include <string>

#include "semantics/core/core.h"

namespace rml {

enum class Rounds : std::uint8_t { told, given };

// Lists what is stopped in bodies among the parameters of the core, in the same order either way: what is told, or
// zeros that the iteration takes, until the caller makes an input of them.
void bring_out_stops(Core&, Rounds);

// Every use of v becomes one of an input, which is put at this place among the others.
void make_input(Core&, ValueId v, const std::string& name, std::size_t place);

}  // namespace rml
