// The members of a CompiledModule, and the functions on them. Members are destroyed in reverse order: the module before
// its context.
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
  std::string program;  // symbol of the rml_program table, if there is one
  MemoryUse memory;
};

namespace codegen {

// Returns null, and an error, for a triple or processor that LLVM does not know.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetOptions&, std::string& error);
// True if generated code uses vectors of twice the bits that LLVM prefers.
bool has_wider_vectors(const llvm::TargetMachine&);
// Optimises with the pipeline of the optimisation level. verify_module returns the verifier's error text.
std::string verify_module(const llvm::Module&);
void optimize(llvm::Module&, llvm::TargetMachine&, const TargetOptions&);
// The target and the numeric rules, completed with LLVM's knowledge of the processor.
std::pair<Target, Numeric> describe(const TargetOptions&, llvm::Module&, const llvm::TargetMachine&);

}  // namespace codegen
}  // namespace rml
