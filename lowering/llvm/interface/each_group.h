// A cycle of many states, so many at a time as there are lanes.
#pragma once

#include <cstdint>
#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// How many groups n (i64) states fill, the last one perhaps in part.
IrValue count_groups(Function&, IrValue n, std::uint64_t lanes);

// The states of group `group` are first … first + lanes - 1; numbers are i64.
struct WaysToStep {
  std::function<IrValue(IrValue group, IrValue first)> together;             // i1: whether that was done
  std::function<IrValue(IrValue group, IrValue first, IrValue lane)> alone;  // i32: its fault
};

// What `f` does: all n (i64) states are stepped, those of a group that is not full, or not stepped together, one by
// one. The result is the fault of the first that has one.
void step_groups(Function& f, IrValue n, std::uint64_t lanes, const WaysToStep&);

}  // namespace rml::codegen
