// Compares compiled code in several threads, or in parts, with the same code in one.
#pragma once

#include "fuzz/check_differences.h"

namespace rml::fuzz {

// The rows, and the cycle at which a run stops, are equal to the bit for every number of threads.
Report check_threads(const GeneratedProgram&, std::uint64_t seed);
// check_parts compares lists of statements that are compiled in parts, however small
// (TargetOptions::part). check_network compares networks of tasks with several grains, capacities
// and numbers of workers.
Report check_network(const GeneratedProgram&, std::uint64_t seed);
Report check_parts(const GeneratedProgram&, std::uint64_t seed);

}  // namespace rml::fuzz
