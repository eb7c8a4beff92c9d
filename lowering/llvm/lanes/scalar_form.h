// A step as lanes are made of it: one function of scalars, whose values are in registers as far as can be, and whose
// checks are calls.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>
#include <string>

#include "lowering/target.h"

namespace rml::codegen {

// What a scalar form says of all lanes; calls of functions that are nowhere defined.
namespace lanes {
// void (i1 bad): the lanes are not stepped together where one of them has it.
llvm::Function* check(llvm::Module&);
// i1 (i1 mask): whether any lane is in it.
llvm::Function* any(llvm::Module&);
bool is_check(const llvm::Instruction&);
bool is_any(const llvm::Instruction&);
// Of a check that stands where a function was called that serves one state: its name; else empty.
std::string called_for_one(const llvm::CallInst&);
}  // namespace lanes

// A copy of a step's body (i32 of a state and ports) that returns 0 only: where the step raises a fault, or calls what
// has an effect or knows where a state lies, there is a lanes::check. Of the `bytes` of a state no other cycle looks at
// what lies behind the first `kept`: that is a variable. Throws NoLanes. The caller erases it.
llvm::Function* scalar_form(llvm::Function& step, std::uint64_t kept, std::uint64_t bytes, const Target&);

}  // namespace rml::codegen
