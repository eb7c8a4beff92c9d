// The C interface of programs with queues and segments (docs/manual/commands.md).
#pragma once

#include "lowering/llvm/interface/stamp.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits NODE_init, NODE_reset, NODE_push and NODE_pop, which call the functions of the program's table.
StateStruct emit_buffered_interface(Emission&, const ProgramFunctions&);

}  // namespace rml::codegen
