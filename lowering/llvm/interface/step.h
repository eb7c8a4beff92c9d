// The C interface of straight programs (docs/manual/commands.md).
#pragma once

#include "lowering/llvm/interface/stamp.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits NODE_init, NODE_reset, NODE_step, NODE_run and, if available (parameters.h), NODE_advance: a step that leaves
// the outputs in the state. If outputs lead, also NODE_lead.
StateStruct emit_step_interface(Emission&);
// Emits rml_program::run.
llvm::Function* emit_many_cycles(Emission&, llvm::Function* push, llvm::Function* pop);

// Emits rml_program::together, for a program whose cells are apart from the state, if that is possible and faster.
void emit_together(Emission&, ProgramFunctions&);

}  // namespace rml::codegen
