// Sets the initial contents of a state.
#pragma once

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Stores a cell's initial value at `place`.
void set_initial(Function&, const steps::CellInfo&, IrValue place);
// Sets cells, cursors and counters to their values at the first cycle; keeps the buffers of rings and segments.
void emit_initial_values(Function&);

}  // namespace rml::codegen
