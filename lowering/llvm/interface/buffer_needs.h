// The memory that a program with queues and segments needs besides its state.
#pragma once

#include <cstdint>

#include "lowering/steps/steps.h"

namespace rml::codegen {

// Bytes of all rings and arrays together, per cycle that they hold, and the number of rings and arrays.
struct BufferNeeds {
  std::uint64_t bytes_per_cycle = 0, buffers = 0;
};
BufferNeeds buffer_needs(const steps::Program&);

}  // namespace rml::codegen
