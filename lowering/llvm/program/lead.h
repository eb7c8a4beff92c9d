// Hands out the outputs that a program knows before its inputs arrive.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// Emits rml_program::lead; null if no output leads.
llvm::Function* emit_lead(Emission&);
// Emits i32 NAME(state, …), which computes these outputs and returns a fault. `place_outputs` sets where they are
// written.
llvm::Function* emit_leading_cycle(Emission&, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> types,
                                   const std::function<void(Function&, llvm::Function*)>& place_outputs);

}  // namespace rml::codegen
