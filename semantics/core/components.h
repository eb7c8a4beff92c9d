// Strongly connected components of a dependence graph, operands before users.
//
// A component is what must advance together in time: a single acyclic equation, a forward
// recurrence, a backward one, or a knot of both.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/values/strong_components.h"

namespace rml {

struct Component {
  std::vector<ValueId> values;  // in order of their ids
  ClockId clock;                // the nearest clock that all are on
  bool cyclic = false;
};

struct Components {
  static constexpr std::uint32_t none = UINT32_MAX;  // constants, and what nothing needs
  std::vector<Component> list;                       // topological
  std::vector<std::uint32_t> of;                     // by ValueId
};

// `ties`: values that are in one component with others, and so is what lies between them.
Components find_components(const DependenceGraph&, const std::map<ValueId, ValueId>& ties = {});

}  // namespace rml
