// The gradients of a generated program against central differences.
#pragma once

#include <cstdint>
#include <string>

#include "fuzz/generate_program.h"

namespace rml {
class Diagnostics;
}

namespace rml::fuzz {

// Rejected: productivity cannot be shown; refused: no static schedule; guessed: one that rests on an
// assumption, which does not hold; idle: nothing could be compared; without: there is no derivative;
// stopped: there is none to compare with, since the node stops or is not finite.
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

// Whether all errors say that a program waits for itself or for the infinite future.
bool is_unproductive(const Diagnostics&);

// Of a node, on the reference engine.
Report check_differences(const GeneratedProgram&, std::uint64_t seed, const std::string& node = "f");

}  // namespace rml::fuzz
