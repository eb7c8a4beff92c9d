// The functions that the rml_program table points to.
#pragma once

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

struct ProgramFunctions {
  llvm::Function *init = nullptr, *push = nullptr, *finish = nullptr, *pop = nullptr, *destroy = nullptr;
  llvm::Constant* run = nullptr;      // a function that runs many cycles; only if it is requested and faster
  llvm::Constant* lead = nullptr;     // a function; only if outputs may be known before the inputs of a cycle
  llvm::Constant* network = nullptr;  // the table of the network, if the program is one
  llvm::Constant* demand = nullptr;   // the table of equations, if the program runs on demand
  // A function that runs a cycle of many instances; only if their cells are apart from the state.
  llvm::Constant* together = nullptr;
  std::uint64_t lanes = 0;
};

}  // namespace rml::codegen
