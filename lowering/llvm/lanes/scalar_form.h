// The scalar form of a step, from which lanes are made: one function on scalars, with values in registers as far as
// possible, and with checks as calls.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "lowering/target.h"

namespace rml::codegen {

// Questions and statements about all lanes, as calls of functions that have no definition.
namespace lanes {
// Function void (i1 bad): the lanes may not be stepped together if `bad` is true in one of them.
llvm::Function* check(llvm::Module&);
// Function i1 (i1 mask): true if the mask is true in any lane.
llvm::Function* any(llvm::Module&);
bool is_check(const llvm::Instruction&);
bool is_any(const llvm::Instruction&);
// The name of the function that serves one state only and whose call the check replaced; empty for other checks.
std::string called_for_one(const llvm::CallInst&);
}  // namespace lanes

// Returns a copy of a step's body (i32 of a state and ports) that always returns 0. It has a lanes::check where the
// step raises a fault, or calls a function that has an effect or depends on the address of a state. A state has `bytes`
// bytes; other cycles read only the first `kept`, so the rest becomes a local variable. Throws NoLanes. The caller
// erases the copy.
llvm::Function* scalar_form(llvm::Function& step, std::uint64_t kept, std::uint64_t bytes, const Target&);

}  // namespace rml::codegen
