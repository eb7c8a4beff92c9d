// What a CompiledModule owns, and what is done with it. Members are destroyed in reverse: the module before its
// context.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <utility>

#include "lowering/llvm/module/emit_options.h"
#include "lowering/llvm/toolchain/compiled_module.h"

namespace rml {

struct CompiledModule::State {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
  TargetOptions target;
  std::string program;  // symbol of the table, if there is one
  MemoryUse memory;
};

namespace codegen {

// Null and an error for a triple or processor that LLVM does not know.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetOptions&, std::string& error);
// Whether vectors that are written here are of twice the bits that LLVM prefers.
bool has_wider_vectors(const llvm::TargetMachine&);
// The pipeline of the optimisation level; the error text is the verifier's.
std::string verify_module(const llvm::Module&);
void optimize(llvm::Module&, llvm::TargetMachine&, const TargetOptions&);
// With what LLVM knows of the processor.
std::pair<Target, Numeric> describe(const TargetOptions&, llvm::Module&, const llvm::TargetMachine&);

}  // namespace codegen
}  // namespace rml
