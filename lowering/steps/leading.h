// Which outputs are known before the inputs of their cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

enum class Leading : std::uint8_t {
  never,
  sometimes,  // where a condition asks for no input, say, or from the second instant on
  always,
};

// By output of the node.
std::vector<Leading> leading(const Core&);

}  // namespace rml
