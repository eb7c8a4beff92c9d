// What a program hands out before its inputs are there.
#pragma once

#include <functional>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

// rml_program::lead; null: nothing leads.
llvm::Function* emit_lead(Emission&);
// What computes these outputs: i32 NAME(state, …), a fault. Told by `place_outputs` where they go.
llvm::Function* emit_leading_cycle(Emission&, const llvm::Twine& name, llvm::ArrayRef<llvm::Type*> types,
                                   const std::function<void(Function&, llvm::Function*)>& place_outputs);

}  // namespace rml::codegen
