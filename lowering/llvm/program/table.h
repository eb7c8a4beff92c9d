// Emits the rml_program table.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits NODE_program, exported. Must be called after all code that uses scratch was emitted.
void emit_table(Emission&, const ProgramFunctions&);
// Emits int main(int, char**).
void emit_main(Emission&);

}  // namespace rml::codegen
