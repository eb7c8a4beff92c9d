// Emits elements that are taken from, or added to, places that are computed at run time.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Returns whether code was generated: for take, sum_take and dynamic slices, if there are few
// indices or elements, or if the code is for a microcontroller. Otherwise the runtime's kernel must be called.
bool emit_places(Function&, ValueId, const core::Apply&);

}  // namespace rml::codegen
