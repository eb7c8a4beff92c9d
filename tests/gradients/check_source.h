// Checks the gradients of a program that is given as text.
#pragma once

#include <cstdint>
#include <string>

namespace rml::gradients {

struct CheckedSource {
  std::string wrong;  // empty: all gradients of `f` are right, and at least one was compared for each name
  std::int64_t compared = 0;
};

// Checks the node f of the program on random inputs.
CheckedSource check_source(const std::string& source, std::int64_t cycles, std::uint64_t seed);

}  // namespace rml::gradients
