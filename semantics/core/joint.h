// Keys of `sum_over_parameters(x)`, a sum that several instances of an optimiser compute together
// (join_updates.h).
//
// The key (core::Apply::key) has the group in its upper half and the member in its lower half.
// All members have different keys, so sharing of common subexpressions never merges two of them.
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
