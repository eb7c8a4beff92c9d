// Emits the functions of a program (rmlrt.h).
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits all functions that the table points to, with internal linkage.
ProgramFunctions emit_program(Emission&);

}  // namespace rml::codegen
