// Networks of tasks.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// push, pop and the table.
void emit_network(Emission&, ProgramFunctions&);

}  // namespace rml::codegen
