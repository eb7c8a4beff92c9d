// Generates random programs whose recurrences end in every way: by disjunctions, conjunctions,
// negations, counters, comparisons, conditions of the instant before or after, and nested
// branches. They have restarts, several ends, strides of two and three, clocks within clocks,
// lazy branches, and parameters that are held over segments with their gradients.
//
// The programs are well typed and well clocked. Many need themselves, or a value that never
// comes; the denotation decides.
#pragma once

#include <cstdint>
#include <string>

#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

// Freely drawn equations, or a training written out by hand.
std::string generate_ends(std::uint64_t seed);
// A node with parameters and states, and its derivative by `diff`.
std::string generate_training(std::uint64_t seed);

// Inputs for either: e, q, c: bool, x, z: f64. Booleans are rarely, often, always or never true,
// equal or not.
Chronogram draw_inputs(std::uint64_t seed, std::int64_t cycles);

}  // namespace rml::fuzz
