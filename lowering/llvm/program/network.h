// Emits networks of tasks.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits push, pop and the table.
void emit_network(Emission&, ProgramFunctions&);

}  // namespace rml::codegen
