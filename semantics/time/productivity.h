// Productivity: checks that each value can be computed after a finite wait.
//
// check_productivity reports cycles in which delays and look-ahead cancel (E0501; check_causality
// reports those within an instant), dependences on the infinite future (E0502), cuts that never
// become true (E0503) or depend on a post that they cut (E0504), and the remaining assumptions
// about the inputs. It changes nothing. The scheduler computes the same facts again from the core
// that it works on.
#pragma once

#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

struct Productivity {
  // In the user's words: "productive if `end` keeps coming true".
  std::vector<std::string> assumptions;
};

Productivity check_productivity(const Core&, Diagnostics&);

}  // namespace rml
