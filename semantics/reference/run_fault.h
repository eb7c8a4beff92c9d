// The arguments of a run of the reference engine besides its core, and the faults that end it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "semantics/core/core.h"

namespace rml {

struct RunFault {
  Fault fault;                           // its kind is one of RML_FAULT_… in rmlrt.h
  ValueId value;                         // the value that failed; invalid if no value did
  std::uint32_t assertion = UINT32_MAX;  // index of the assert that failed; UINT32_MAX: none
  std::uint32_t input = UINT32_MAX;      // index of the input that violated its clock; UINT32_MAX: none
  std::int64_t cycle = 0;
  const Value* equation = nullptr;  // the equation that failed: that of `value`, or one in the body of its iteration
};

// Calls the external node `k`: reads inputs, fills outputs, which already have their types and
// shapes.
using CallExternal =
    std::function<void(std::uint32_t k, std::span<const Tensor* const> inputs, std::span<Tensor> outputs)>;

}  // namespace rml
