// What a state holds at first.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Stores a cell's initial value at `place`.
void set_initial(Function&, const steps::CellInfo&, IrValue place);
// Cells, cursors and counters as at the first cycle; leaves the buffers of rings and segments.
void emit_initial_values(Function&);

}  // namespace rml::codegen
