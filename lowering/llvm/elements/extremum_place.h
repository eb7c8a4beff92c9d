// Finds the index of an extremum: argmax and argmin.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void emit_extremum_place(Function&, ValueId, const core::Apply&, bool maximum);

}  // namespace rml::codegen
