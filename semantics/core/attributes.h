// Attributes that are known numbers, for those who apply operators.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "semantics/operators/operator.h"

namespace rml {

inline Attribute integers_attribute(std::vector<std::int64_t> integers) {
  Attribute a;
  a.given = true;
  a.integers = std::move(integers);
  return a;
}

}  // namespace rml
