// Compares the gradients of a generated program with central differences.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/generate_program.h"

namespace rml {
class Diagnostics;
}

namespace rml::fuzz {

// rejected: productivity cannot be shown. refused: there is no static schedule. guessed: the
// schedule rests on an assumption that is false. idle: nothing could be compared. without: there
// is no derivative. stopped: there is no difference quotient, because the node stops or is not
// finite.
enum Outcome : char {
  agrees = '.',
  rejected = 'r',
  refused = 's',
  guessed = 'g',
  idle = 'i',
  without = 'n',
  stopped = 'x',
  differs = 'D',
  failed = 'F'
};

struct Report {
  Outcome outcome = agrees;
  std::string text;
};

// True if every error says that a program waits for itself or for the infinite future.
bool is_unproductive(const Diagnostics&);

// Checks a node on the reference engine.
Report check_differences(const GeneratedProgram&, std::uint64_t seed, const std::string& node = "f");

}  // namespace rml::fuzz
