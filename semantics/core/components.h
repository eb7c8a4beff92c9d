// Strongly connected components of a dependence graph, operands before users.
//
// The values of a component must advance together in time. A component is a single acyclic
// equation, a forward recurrence, a backward recurrence, or a combination of both directions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/values/strong_components.h"

namespace rml {

struct Component {
  std::vector<ValueId> values;  // members of the component, in the order of their ids
  ClockId clock;                // the nearest clock of which the clocks of all values are samplings
  bool cyclic = false;
};

struct Components {
  static constexpr std::uint32_t none = UINT32_MAX;  // component number of constants and of values that nothing needs
  std::vector<Component> list;                       // in topological order, operands first
  std::vector<std::uint32_t> of;                     // indexed by value: index into `list`, or `none`
};

// `ties` are additional edges from key to value: a tie that closes a cycle puts both of its
// values, and all values between them, into one component.
Components find_components(const DependenceGraph&, const std::map<ValueId, ValueId>& ties = {});

}  // namespace rml
