// Generates small programs of Boolean equations that may depend on each other in every way.
#pragma once

#include <cstdint>
#include <string>

namespace rml::fuzz {

// The first numbers give all programs of two equations. Later numbers give random programs of
// three and four equations, and programs on a clock that never ticks.
std::string boolean_program(std::uint64_t number);
// The number of programs with two equations.
std::uint64_t boolean_pairs();

}  // namespace rml::fuzz
