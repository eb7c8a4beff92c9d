// Generates random programs with instances within branches, under conditions that other instances
// computed one cycle before.
#pragma once

#include "fuzz/generate_program.h"

namespace rml::fuzz {

GeneratedProgram generate_instances(std::uint64_t seed);

}  // namespace rml::fuzz
