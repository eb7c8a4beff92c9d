// Schedules that are wrong in a known way, made of one that is right; and some that are changed and still right.
#pragma once

#include <string>
#include <vector>

#include "lowering/schedule/schedule.h"

namespace rml {

struct Mutant {
  std::string kind, what;
  Schedule schedule;
  bool right = false;  // by meaning
};

// Every kind of change, at each place where it is known what comes of it.
std::vector<Mutant> mutants_of(const Schedule&);

}  // namespace rml
