// Makes wrong schedules from a correct one, with a known error, and changed schedules that are
// still correct.
#pragma once

#include <string>
#include <vector>

#include "lowering/schedule/schedule.h"

namespace rml {

struct Mutant {
  std::string kind, what;
  Schedule schedule;
  bool right = false;  // true if the change keeps the meaning
};

// Every kind of change, at each place where its effect is known.
std::vector<Mutant> mutants_of(const Schedule&);

}  // namespace rml
