// Lowers steps to loops: every computation of the steps, element by element (loops.h).
#pragma once

#include <memory>
#include <vector>

#include "lowering/loops/loops.h"

namespace rml::loops {

// A program as loops. Refused parts have no code in it, so the program is complete only if nothing is refused.
struct Made {
  Program program;
  std::vector<Refusal> refused;  // refused operations, in the order of the program
};
Made make_loops(std::shared_ptr<const steps::Program>);

}  // namespace rml::loops
