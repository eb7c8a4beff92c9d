// Random programs that are right by construction: well typed, well clocked, and productive
// whenever their segment ends come true, which the random inputs see to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/chronogram.h"

namespace rml::fuzz {

struct GeneratedProgram {
  std::string source;  // node main
  Chronogram inputs;   // a row per input, in order
  std::int64_t cycles = 0;
};

GeneratedProgram generate_program(std::uint64_t seed);

}  // namespace rml::fuzz
