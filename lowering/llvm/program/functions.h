// The functions behind the rml_program table.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

struct ProgramFunctions {
  llvm::Function *init = nullptr, *push = nullptr, *finish = nullptr, *pop = nullptr, *destroy = nullptr;
  llvm::Constant* run = nullptr;       // a function: many cycles at once, where that is asked for and cheaper
  llvm::Constant* lead = nullptr;      // a function, where outputs may be known before the inputs of a cycle
  llvm::Constant* network = nullptr;   // its table, of a network
  llvm::Constant* demand = nullptr;    // … of what runs on demand
  llvm::Constant* together = nullptr;  // a function: a cycle of so many instances, where their cells lie apart
  std::uint64_t lanes = 0;
};

}  // namespace rml::codegen
