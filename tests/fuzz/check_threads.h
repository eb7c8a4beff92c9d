// Compiled code in several threads, or in parts, against the same in one.
#pragma once

#include "fuzz/check_differences.h"

namespace rml::fuzz {

// The rows, and where a run stops, are the same to the bit for any number of threads, and the same as without any.
Report check_threads(const GeneratedProgram&, std::uint64_t seed);
// … and for lists of statements in parts, however small (TargetOptions::part).
// As a network of tasks, of several grains, capacities and numbers of workers.
Report check_network(const GeneratedProgram&, std::uint64_t seed);
Report check_parts(const GeneratedProgram&, std::uint64_t seed);

}  // namespace rml::fuzz
