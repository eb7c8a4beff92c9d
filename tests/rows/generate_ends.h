// Random programs whose recurrences end in every way: conditions that are disjunctions, conjunctions, negations,
// counters, comparisons, of the instant before or after, nested branches; restarts, several ends, strides of two and
// three, clocks within clocks, lazy branches, parameters held over segments with their gradients.
//
// They are well typed and well clocked. Many need themselves, or what never comes: what is determined, another says.
#pragma once

#include <cstdint>
#include <string>

#include "semantics/reference/chronogram.h"

namespace rml::fuzz {

// Equations drawn freely, or a training written out by hand.
std::string generate_ends(std::uint64_t seed);
// A node with parameters and states, and what `diff` makes of it.
std::string generate_training(std::uint64_t seed);

// Inputs for either: e, q, c: bool, x, z: f64. Booleans are rare, frequent, always or never true, alike or not.
Chronogram draw_inputs(std::uint64_t seed, std::int64_t cycles);

}  // namespace rml::fuzz
