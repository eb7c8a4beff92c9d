// Small programs of Boolean equations, in which everything may need everything.
#pragma once

#include <cstdint>
#include <string>

namespace rml::fuzz {

// Programs of two equations come first, every one there is; then three and four, by chance, and on a clock that never
// ticks.
std::string boolean_program(std::uint64_t number);
// How many of two equations there are.
std::uint64_t boolean_pairs();

}  // namespace rml::fuzz
