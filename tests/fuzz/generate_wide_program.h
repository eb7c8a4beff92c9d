// Random programs on tensors large enough for loops: what is shared out among threads.
#pragma once

#include "fuzz/generate_program.h"

namespace rml::fuzz {

// Chains of elementwise operations, reductions, products and convolutions with odd extents, states, and trainings,
// some of which go over segments.
GeneratedProgram generate_wide_program(std::uint64_t seed);

}  // namespace rml::fuzz
