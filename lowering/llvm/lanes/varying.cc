// Propagates differences along uses, from loads of memory on (varying.h).
#include "lowering/llvm/lanes/varying.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

#include "lowering/llvm/lanes/scalar_form.h"

namespace rml::codegen {

namespace {

// True for an instruction whose result differs between lanes for a reason of its own: a load, except from a global
// constant, and a call that accesses memory. Addresses differ by their offsets alone; the object is each lane's own.
bool begins(const llvm::Instruction& i) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&i))
    return !llvm::isa<llvm::GlobalVariable>(llvm::getUnderlyingObject(load->getPointerOperand()));
  return llvm::isa<llvm::CallInst>(i) && !i.getType()->isVoidTy() && !lanes::is_any(i) &&
         !llvm::cast<llvm::CallInst>(i).doesNotAccessMemory();
}

}  // namespace

void Varying::add(const llvm::Value& first) {
  std::vector<const llvm::Value*> open;
  const auto take = [&](const llvm::Value& v) {
    if (found_.insert(&v).second) open.push_back(&v);
  };
  take(first);
  while (!open.empty()) {
    const llvm::Value* const v = open.back();
    open.pop_back();
    for (const llvm::User* user : v->users()) {
      const auto* i = llvm::cast<llvm::Instruction>(user);
      if (!i->getType()->isVoidTy() && !lanes::is_any(*i)) take(*i);
    }
  }
}

Varying::Varying(const llvm::Function& f) {
  for (const llvm::Argument& argument : f.args())
    if (!argument.getType()->isPointerTy()) add(argument);
  for (const llvm::Instruction& i : llvm::instructions(f))
    if (begins(i)) add(i);
}

}  // namespace rml::codegen
