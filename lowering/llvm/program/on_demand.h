// Emits programs that run on demand, whose equations the runtime evaluates.
#pragma once

#include "lowering/llvm/module/emission.h"
#include "lowering/llvm/program/functions.h"

namespace rml::codegen {

// Emits all functions of a program that has no schedule.
ProgramFunctions emit_on_demand(Emission&);

}  // namespace rml::codegen
