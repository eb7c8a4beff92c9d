// Finds the outputs that are known before the inputs of their cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

enum class Leading : std::uint8_t {
  never,
  sometimes,  // at some cycles: if a condition holds under which no input is needed, or from the second instant on
  always,
};

// Tells for each output of the node whether it is known before the inputs of its cycle.
std::vector<Leading> leading(const Core&);

}  // namespace rml
