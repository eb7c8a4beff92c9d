// What steps must be: a value is computed on every path on which it is read.
//
// A statement that reads a value which no earlier statement of its block has written reads what was there before: a
// number of another instant, or memory that nothing has set. Paths are told apart by what branches test, by the class
// of the instant in its segment, and by what follows for conditions at instants of that class.
#pragma once

#include <string>

#include "lowering/steps/steps.h"

namespace rml {

// The first violation as text, or empty. Bodies of iterations are checked as well.
std::string verify(const steps::Program&);

}  // namespace rml
