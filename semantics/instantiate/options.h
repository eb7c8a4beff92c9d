// What a program is instantiated with.
#pragma once

#include <vector>

#include "frontend/ast.h"
#include "semantics/values/limits.h"

namespace rml {

// -D NAME=VALUE: overrides of `const` items, VALUE an R(ML)2 expression already parsed into
// the program's arena.
struct ConstOverride {
  ConstId constant;
  ExprId value;
};

struct InstantiateOptions {
  std::vector<ConstOverride> overrides = {};
  // List what `stop_gradient` yields among the parameters, without a path; in bodies too (stops_of_rounds.h).
  bool keep_stops = false;
  bool open = false;   // inputs without a written type may have any shape, those with one be static
  Limits limits = {};  // E0702 where the program exceeds one
};

}  // namespace rml
