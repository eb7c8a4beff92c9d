// Generates random differentiable programs: a node f of smooth operators under clocks, branches,
// delays in both directions, states with segments, instances and parameters, and a node main that
// trains f.
//
// By construction the programs are well typed and well clocked, and no condition depends on a
// float, so f is smooth. A gradient may still wait for an end that never comes; the productivity
// check refuses those programs.
#pragma once

#include <cstdint>

#include "fuzz/generate_program.h"

namespace rml::fuzz {

// The inputs are those of main. The node to differentiate is f.
GeneratedProgram generate_gradient_program(std::uint64_t seed);

}  // namespace rml::fuzz
