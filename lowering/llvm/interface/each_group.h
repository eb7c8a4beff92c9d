// A cycle of many states, in groups with one state per vector lane.
#pragma once

#include <cstdint>
#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// The number of groups for n (i64) states; the last group may be incomplete.
IrValue count_groups(Function&, IrValue n, std::uint64_t lanes);

// How a group is stepped. The states of `group` are first … first + lanes - 1; numbers are i64.
struct WaysToStep {
  // Emits code that steps a whole group; yields an i1 that is true if all states were stepped.
  std::function<IrValue(IrValue group, IrValue first)> together;
  // Emits code that steps a single state; yields its fault as an i32.
  std::function<IrValue(IrValue group, IrValue first, IrValue lane)> alone;
};

// Writes the code of `f`, which steps all n (i64) states. The states of an incomplete group, or of one that is not
// stepped together, are stepped one by one. Returns the fault of the first state that has one.
void step_groups(Function& f, IrValue n, std::uint64_t lanes, const WaysToStep&);

}  // namespace rml::codegen
