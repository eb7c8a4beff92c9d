// Random differentiable programs: a node f of smooth operators under clocks, branches, delays in
// both directions, states with segments, instances and parameters, and a main that trains it.
//
// By construction they are well typed and well clocked, and no condition depends on a float, so
// that f is smooth. Gradients may still wait for an end that never comes: those programs are
// refused by the check of productivity.
#pragma once

#include <cstdint>

#include "fuzz/generate_program.h"

namespace rml::fuzz {

// The inputs are those of main. The node to differentiate is f.
GeneratedProgram generate_gradient_program(std::uint64_t seed);

}  // namespace rml::fuzz
