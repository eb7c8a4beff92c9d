// Productivity: can every value be computed, and need it wait only finitely?
//
// check_productivity reports cycles of delays and looks ahead that cancel each other (E0501; those
// within an instant are check_causality's), dependences on the infinite future (E0502), cuts that
// never come true (E0503) or wait for what they cut (E0504), and what is left to assume about the
// inputs. It changes nothing; the scheduler, which needs the same facts, computes them again from
// the core it works on.
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
