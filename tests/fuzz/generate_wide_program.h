// Generates random programs on tensors that are large enough for loops to be divided among
// threads.
#pragma once

#include "fuzz/generate_program.h"

namespace rml::fuzz {

// Chains of elementwise operations, reductions, products and convolutions with odd extents,
// states, and trainings, some of them over segments.
GeneratedProgram generate_wide_program(std::uint64_t seed);

}  // namespace rml::fuzz
