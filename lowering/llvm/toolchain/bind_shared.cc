// Emits the calls by which the runtime opens libraries and finds their functions (runtime/run/external_function.cc).
#include "lowering/llvm/toolchain/bind_shared.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "lowering/llvm/toolchain/module_state.h"

namespace rml {
namespace {

// Makes `function` call the function whose address is in `cell`, with the same arguments.
void forward(llvm::Function& function, llvm::GlobalVariable& cell) {
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(function.getContext(), "", &function));
  std::vector<llvm::Value*> arguments;
  for (llvm::Argument& argument : function.args()) arguments.push_back(&argument);
  auto* address = ir.CreateLoad(ir.getPtrTy(), &cell);
  llvm::CallInst* call = ir.CreateCall(function.getFunctionType(), address, arguments);
  call->setAttributes(function.getAttributes());
  call->setTailCallKind(llvm::CallInst::TCK_Tail);
  ir.CreateRetVoid();
}

}  // namespace

void bind_shared(CompiledModule& compiled, const std::vector<SharedFunction>& functions) {
  if (functions.empty()) return;
  llvm::Module& module = *compiled.state().module;
  llvm::IRBuilder<> ir(module.getContext());
  auto* type = llvm::FunctionType::get(ir.getVoidTy(), false);
  auto* start = llvm::Function::Create(type, llvm::Function::InternalLinkage, "rml_external.start", module);
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", start));
  const auto find = module.getOrInsertFunction("rml_external_function", ir.getPtrTy(), ir.getPtrTy(), ir.getPtrTy());
  for (const SharedFunction& f : functions) {
    llvm::Function* const function = module.getFunction(external_symbol(f.symbol));
    if (function == nullptr || !function->isDeclaration()) continue;
    auto* cell = new llvm::GlobalVariable(module, ir.getPtrTy(), false, llvm::GlobalValue::InternalLinkage,
                                          llvm::ConstantPointerNull::get(ir.getPtrTy()), "rml_external.address");
    ir.CreateStore(ir.CreateCall(find, {ir.CreateGlobalString(f.library), ir.CreateGlobalString(f.symbol)}), cell);
    function->setLinkage(llvm::Function::InternalLinkage);
    forward(*function, *cell);
  }
  ir.CreateRetVoid();
  // Initialisers go to .init_array, because linkers no longer collect .ctors.
  compiled.state().machine->Options.UseInitArray = true;
  llvm::appendToGlobalCtors(module, start, 65535);
}

}  // namespace rml
