// Emits networks of tasks.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits the functions push and pop, and the table of tasks.
void emit_network(Emission&, ProgramFunctions&);

}  // namespace rml::codegen
