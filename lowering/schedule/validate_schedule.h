// An independent check that a schedule computes what the core says, in a possible order.
#pragma once

#include <string>

#include "lowering/schedule/schedule.h"

namespace rml {

// The first violation in words, or empty.
std::string validate(const Schedule&);

}  // namespace rml
