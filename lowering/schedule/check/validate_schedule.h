// An independent check that a schedule computes the values of the core in a possible order. It does not use the code
// that found the schedule.
#pragma once

#include <string>

#include "lowering/schedule/schedule.h"

namespace rml {

// Describes the first violation; empty if the schedule is valid.
std::string validate(const Schedule&);

}  // namespace rml
