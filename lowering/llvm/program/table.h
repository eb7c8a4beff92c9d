// The rml_program table.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// NODE_program, exported; once everything that uses scratch has been emitted.
void emit_table(Emission&, const ProgramFunctions&);
// int main(int, char**).
void emit_main(Emission&);

}  // namespace rml::codegen
