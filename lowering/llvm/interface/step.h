// The C interface of straight programs (docs/manual/commands.md).
#pragma once

#include "lowering/llvm/interface/stamp.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// NODE_init, NODE_reset, NODE_step, NODE_run, and where there is one (parameters.h), NODE_advance: a step that leaves
// the outputs in the state. Where outputs lead, NODE_lead.
StateStruct emit_step_interface(Emission&);
// rml_program::run.
llvm::Function* emit_many_cycles(Emission&, llvm::Function* push, llvm::Function* pop);

// rml_program::together of a program whose cells lie apart, where that is possible and faster.
void emit_together(Emission&, ProgramFunctions&);

}  // namespace rml::codegen
