// The check of gradients on a program given as text, in words.
#pragma once

#include <cstdint>
#include <string>

namespace rml::gradients {

struct CheckedSource {
  std::string wrong;  // empty: all gradients of `f` are right, and some at each name were compared
  std::int64_t compared = 0;
};

// Checks the node f of the program, on random inputs.
CheckedSource check_source(const std::string& source, std::int64_t cycles, std::uint64_t seed);

}  // namespace rml::gradients
