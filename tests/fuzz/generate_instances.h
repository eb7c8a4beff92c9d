// Random programs of instances within branches: what decides on a branch comes, delayed, from other instances.
#pragma once

#include "fuzz/generate_program.h"

namespace rml::fuzz {

GeneratedProgram generate_instances(std::uint64_t seed);

}  // namespace rml::fuzz
