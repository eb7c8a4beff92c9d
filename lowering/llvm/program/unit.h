// Emits the functions of a unit of a program that is not straight.
#pragma once

#include "lowering/llvm/module/emission.h"

namespace rml::codegen {

struct UnitFunctions {
  // i32 instant(state, addresses of the inputs; in a network only the state): consumes one instant, which must be
  // ready; returns 0 or a fault.
  llvm::Function* instant = nullptr;
  // For segmented units of a network: i32 end(state), which runs the sweeps over a complete segment.
  llvm::Function* end = nullptr;
  bool can_fail = false;
};
UnitFunctions emit_unit(Emission&, std::uint32_t unit);

}  // namespace rml::codegen
