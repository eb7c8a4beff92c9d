// Options of instantiation.
#pragma once

#include <vector>

#include "frontend/ast.h"
#include "semantics/values/limits.h"

namespace rml {

// -D NAME=VALUE overrides a `const` item. VALUE is an R(ML)² expression, already parsed into the
// program.
struct ConstOverride {
  ConstId constant;
  ExprId value;
};

struct InstantiateOptions {
  std::vector<ConstOverride> overrides = {};
  // Adds the results of `stop_gradient` to the parameters, without a path; in bodies too
  // (stops_of_rounds.h).
  bool keep_stops = false;
  // Inputs without a written type may have any shape, inputs with one may be static.
  bool open = false;
  // Constants that are parameters under their names: a run can change them between two cycles.
  std::vector<ConstId> tunable = {};
  Limits limits = {};  // E0702 if the program exceeds one
};

}  // namespace rml
