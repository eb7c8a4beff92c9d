// The functions of a unit of a program that is not straight.
#pragma once

#include <functional>

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

struct UnitFunctions {
  // i32 instant(state, addresses of the inputs; in a network only the state): consumes one instant, which must be
  // ready; 0 or a fault.
  llvm::Function* instant = nullptr;
  // Networks, segmented units: i32 end(state), the passes over a segment that is whole.
  llvm::Function* end = nullptr;
  bool can_fail = false;
};
UnitFunctions emit_unit(Emission&, std::uint32_t unit);

// Also what is in branches.
void for_each_cell(const steps::Block&, const std::function<void(CellId)>&);

}  // namespace rml::codegen
