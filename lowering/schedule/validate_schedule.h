// An independent check that a schedule computes the values of the core in a possible order. It does not use the code
// that found the schedule.
#pragma once

#include <string>

#include "lowering/schedule/schedule.h"

namespace rml {

// The first violation in words, or empty.
std::string validate(const Schedule&);

}  // namespace rml
