// Attributes whose values are known numbers, for code that applies operators.
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
