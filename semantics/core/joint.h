// `sum_over_parameters(x)`, which several instances of an optimiser compute together (join_updates.h).
//
// Its members are told by their keys (core::Apply::key): no two have the same, so none is shared with another, and the
// group that they are of is in it.
#pragma once

#include <cstdint>
#include <string>

#include "semantics/core/core.h"

namespace rml {

inline bool is_joint(OperatorId op) {
  static const OperatorId joint = operators().require("sum_over_parameters");
  return op == joint;
}

inline std::uint64_t joint_key(const std::string& group, const std::string& member) {
  constexpr std::uint64_t low = 0xffffffffu;
  return (path_key(group) & ~low) | (path_key(member) & low);
}
inline std::uint32_t group_of_key(std::uint64_t joint_key) { return static_cast<std::uint32_t>(joint_key >> 32); }

}  // namespace rml
