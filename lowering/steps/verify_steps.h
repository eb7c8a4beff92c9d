// Verifies steps: every value is computed on every path on which it is read.
//
// A statement that reads a value before any statement of its block has written it would read a stale value of another
// instant, or uninitialised memory. Paths differ by the tests of branches, by the class of the instant in its segment,
// and by what that class implies for conditions.
#pragma once

#include <string>

#include "lowering/steps/steps.h"

namespace rml {

// The first violation as text, or empty. The bodies of iterations are checked as well.
std::string verify(const steps::Program&);

}  // namespace rml
