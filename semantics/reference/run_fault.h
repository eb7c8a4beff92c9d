// What a run of the reference engine is given besides its core, and how it may end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "semantics/core/core.h"

namespace rml {

struct RunFault {
  Fault fault;                           // kind as in rmlrt.h
  ValueId value;                         // what failed, or
  std::uint32_t assertion = UINT32_MAX;  // which assert, or
  std::uint32_t input = UINT32_MAX;      // which input was present or absent against its clock
  std::int64_t cycle = 0;
  const Value* equation = nullptr;  // of the value, or the one in the body of its iteration
};

// Calls the external node `k`: reads inputs, fills outputs (already typed and shaped).
using CallExternal =
    std::function<void(std::uint32_t k, std::span<const Tensor* const> inputs, std::span<Tensor> outputs)>;

}  // namespace rml
