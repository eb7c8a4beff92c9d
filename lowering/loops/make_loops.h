// Steps to loops: what steps compute, element by element (loops.h).
#pragma once

#include <memory>
#include <vector>

#include "lowering/loops/loops.h"

namespace rml::loops {

// A program as loops. What is refused has no code in it, so the program is whole only where nothing is.
struct Made {
  Program program;
  std::vector<Refusal> refused;  // in the order of the program
};
Made make_loops(std::shared_ptr<const steps::Program>);

}  // namespace rml::loops
