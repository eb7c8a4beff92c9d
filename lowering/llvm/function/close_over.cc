// Makes an inner function self-contained (close_over.h). A variable (alloca) of the outer function is passed by address
// only if the inner one writes it: a variable whose address does not escape stays in registers in both functions.
#include "lowering/llvm/function/close_over.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IntrinsicInst.h>

namespace rml::codegen {

namespace {

using Uses = llvm::MapVector<llvm::Value*, std::vector<llvm::Use*>>;

Uses foreign_values(llvm::Function& inner) {
  Uses all;
  for (llvm::BasicBlock& block : inner)
    for (llvm::Instruction& instruction : block)
      for (llvm::Use& use : instruction.operands()) {
        auto* made = llvm::dyn_cast<llvm::Instruction>(use.get());
        auto* given = llvm::dyn_cast<llvm::Argument>(use.get());
        if ((made != nullptr && made->getFunction() != &inner) || (given != nullptr && given->getParent() != &inner))
          all[use.get()].push_back(&use);
      }
  return all;
}

bool only_reads(const llvm::Use& use) {
  if (llvm::isa<llvm::LoadInst>(use.getUser())) return true;
  if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(use.getUser()))
    return llvm::all_of(place->uses(), only_reads);
  auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(use.getUser());
  return copy != nullptr && &copy->getRawSourceUse() == &use;
}

// The variable whose contents are passed to the new function, or null.
llvm::AllocaInst* copied_variable(llvm::Value* value, const std::vector<llvm::Use*>& uses) {
  auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
  const bool read = variable != nullptr && llvm::all_of(uses, [](llvm::Use* use) { return only_reads(*use); });
  return read ? variable : nullptr;
}

void copy(llvm::IRBuilder<>& ir, llvm::Type* type, IrValue to, IrValue from, llvm::Align align) {
  if (type->isArrayTy())
    ir.CreateMemCpy(to, align, from, align, ir.GetInsertBlock()->getDataLayout().getTypeAllocSize(type));
  else
    ir.CreateAlignedStore(ir.CreateAlignedLoad(type, from, align), to, align);
}

}  // namespace

IrValue close_over(llvm::Function& inner, llvm::IRBuilder<>& outer) {
  const Uses all = foreign_values(inner);
  std::vector<llvm::Type*> types;
  for (const auto& [value, uses] : all) {
    auto* variable = copied_variable(value, uses);
    types.push_back(variable != nullptr ? variable->getAllocatedType() : value->getType());
  }
  auto* type = llvm::StructType::get(inner.getContext(), types);
  llvm::BasicBlock& outer_entry = outer.GetInsertBlock()->getParent()->getEntryBlock();
  auto* context = llvm::IRBuilder<>(&outer_entry, outer_entry.begin()).CreateAlloca(type, nullptr, "context");
  llvm::BasicBlock& entry = inner.getEntryBlock();
  llvm::IRBuilder<> ir(&entry, entry.begin());
  unsigned field = 0;
  for (const auto& [value, uses] : all) {
    llvm::Type* content = types[field];
    const llvm::Align align = entry.getDataLayout().getABITypeAlign(content);
    IrValue to = outer.CreateStructGEP(type, context, field), from = ir.CreateStructGEP(type, inner.getArg(0), field);
    ++field;
    IrValue here = nullptr;
    if (copied_variable(value, uses) != nullptr) {
      copy(outer, content, to, value, align);
      here = ir.CreateAlloca(content, nullptr, value->getName());
      copy(ir, content, here, from, align);
    } else {
      outer.CreateStore(value, to);
      here = ir.CreateLoad(content, from, value->getName());
    }
    for (llvm::Use* use : uses) use->set(here);
  }
  return context;
}

}  // namespace rml::codegen
