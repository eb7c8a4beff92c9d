// Makes the scalar form of a step (scalar_form.h): inlines calls, splits vectors and copies of memory into elements,
// and replaces faults by checks.
#include "lowering/llvm/lanes/scalar_form.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/toolchain/analyses.h"

namespace rml::codegen {

namespace lanes {

namespace {

constexpr const char* check_name = "rml.lanes.check";
constexpr const char* any_name = "rml.lanes.any";

llvm::Function* declare(llvm::Module& module, const char* name, llvm::Type* result) {
  auto* type = llvm::FunctionType::get(result, {llvm::Type::getInt1Ty(module.getContext())}, false);
  auto* f = llvm::cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
  f->setDoesNotThrow();
  f->setWillReturn();
  return f;
}

bool calls(const llvm::Instruction& instruction, const char* name) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == name;
}

}  // namespace

llvm::Function* check(llvm::Module& module) {
  llvm::Function* f = declare(module, check_name, llvm::Type::getVoidTy(module.getContext()));
  f->setOnlyAccessesInaccessibleMemory();
  return f;
}

llvm::Function* any(llvm::Module& module) {
  llvm::Function* f = declare(module, any_name, llvm::Type::getInt1Ty(module.getContext()));
  f->setDoesNotAccessMemory();
  return f;
}

std::string called_for_one(const llvm::CallInst& check) {
  const llvm::MDNode* name = check.getMetadata(check_name);
  return name == nullptr ? "" : llvm::cast<llvm::MDString>(name->getOperand(0))->getString().str();
}

bool is_check(const llvm::Instruction& instruction) { return calls(instruction, check_name); }
bool is_any(const llvm::Instruction& instruction) { return calls(instruction, any_name); }

}  // namespace lanes

namespace {

// A block that raises a fault stores its code in the exit's variable and jumps to the exit (Function::leave_with).
void make_checks(llvm::Function& f) {
  llvm::AllocaInst* code = nullptr;
  for (llvm::BasicBlock& block : f)
    if (auto* ret = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()))
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(ret->getReturnValue()))
        code = llvm::dyn_cast<llvm::AllocaInst>(load->getPointerOperand());
  if (code == nullptr) return;
  std::vector<llvm::BasicBlock*> faults;
  for (llvm::User* user : code->users()) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(user);
    if (store == nullptr) continue;
    const auto* known = llvm::dyn_cast<llvm::Constant>(store->getValueOperand());
    if (known == nullptr || !known->isZeroValue()) faults.push_back(store->getParent());
  }
  for (llvm::BasicBlock* fault : faults) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(fault->getSinglePredecessor()->getTerminator());
    if (branch == nullptr || !branch->isConditional() || branch->getSuccessor(0) != fault)
      throw NoLanes("several conditions lead to the same fault", fault->getTerminator());
    llvm::IRBuilder<> ir(branch);
    ir.CreateCall(lanes::check(*f.getParent()), {branch->getCondition()});
    ir.CreateBr(branch->getSuccessor(1));
    branch->eraseFromParent();
  }
}

// Writes copies and fills element by element, because in lanes other lanes' elements are in between. The alignment
// gives the size of an element.
void write_elements(llvm::MemIntrinsic& whole, std::uint64_t unrolled) {
  auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&whole);
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(whole.getLength());
  const std::uint64_t size = whole.getDestAlign().valueOrOne().value();
  if (length == nullptr || size > 8 || length->getZExtValue() % size != 0)
    throw NoLanes("it copies a number of bytes that is known only during the run", &whole);
  llvm::IRBuilder<> ir(&whole);
  llvm::Type* const type = ir.getIntNTy(static_cast<unsigned>(8 * size));
  llvm::Value* filler = nullptr;
  if (transfer == nullptr) {
    const auto* byte = llvm::dyn_cast<llvm::ConstantInt>(llvm::cast<llvm::MemSetInst>(whole).getValue());
    if (byte == nullptr || !byte->isZero()) throw NoLanes("it fills memory with values other than zeros", &whole);
    filler = llvm::Constant::getNullValue(type);
  }
  const auto element = [&](llvm::Value* index) {
    const auto at = [&](llvm::Value* base) { return ir.CreateInBoundsGEP(type, base, index); };
    const llvm::Align align(size);
    llvm::Value* value = filler != nullptr ? filler : ir.CreateAlignedLoad(type, at(transfer->getSource()), align);
    ir.CreateAlignedStore(value, at(whole.getDest()), align);
  };
  const std::uint64_t count = length->getZExtValue() / size;
  if (count <= unrolled) {
    for (std::uint64_t k = 0; k < count; ++k) element(ir.getInt64(k));
  } else {
    auto [body, index] = llvm::SplitBlockAndInsertSimpleForLoop(ir.getInt64(count), &whole);
    ir.SetInsertPoint(body);
    element(index);
  }
  whole.eraseFromParent();
}

void write_elements(llvm::Function& f, std::uint64_t unrolled) {
  std::vector<llvm::MemIntrinsic*> all;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* whole = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) all.push_back(whole);
  for (llvm::MemIntrinsic* whole : all) write_elements(*whole, unrolled);
}

// Inlines calls of functions defined here until there are none.
void inline_calls(llvm::Function& f) {
  std::vector<llvm::CallBase*> open;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&i)) open.push_back(call);
  while (!open.empty()) {
    llvm::CallBase* const call = open.back();
    open.pop_back();
    llvm::Function* const called = call->getCalledFunction();
    if (called == nullptr || called->isDeclaration()) continue;
    llvm::InlineFunctionInfo info;
    if (called == &f || !llvm::InlineFunction(*call, info).isSuccess())
      throw NoLanes("a call of " + called->getName().str(), call);
    open.insert(open.end(), info.InlinedCallSites.begin(), info.InlinedCallSites.end());
  }
}

// True for calls of a kernel of the runtime or of an external node.
bool serves_one(const llvm::Instruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  if (call == nullptr || llvm::isa<llvm::IntrinsicInst>(i) || lanes::is_check(i)) return false;
  return !call->doesNotAccessMemory() || call->getCalledFunction() == nullptr ||
         llvm::any_of(call->args(), [](const llvm::Use& u) { return u->getType()->isPointerTy(); });
}

void leave_for_calls(llvm::Function& f) {
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    if (!serves_one(i)) continue;
    const llvm::Function* called = llvm::cast<llvm::CallInst>(i).getCalledFunction();
    llvm::IRBuilder<> ir(&i);
    llvm::CallInst* check = ir.CreateCall(lanes::check(*f.getParent()), {ir.getTrue()});
    const std::string name = called == nullptr ? "a function" : called->getName().str();
    check->setMetadata(lanes::check_name, llvm::MDNode::get(f.getContext(), llvm::MDString::get(f.getContext(), name)));
    if (!i.getType()->isVoidTy()) i.replaceAllUsesWith(llvm::Constant::getNullValue(i.getType()));
    i.eraseFromParent();
  }
}

// Places in the state are constant offsets from its beginning (Function::at).
void take_scratch(llvm::Function& f, std::uint64_t kept, std::uint64_t bytes) {
  if (bytes <= kept) return;
  llvm::IRBuilder<> ir(&f.getEntryBlock(), f.getEntryBlock().begin());
  auto* own = ir.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), bytes - kept), nullptr, "scratch");
  own->setAlignment(llvm::Align(64));
  for (llvm::User* user : llvm::make_early_inc_range(f.getArg(0)->users())) {
    auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    llvm::APInt offset(64, 0);
    if (place == nullptr || !place->accumulateConstantOffset(f.getDataLayout(), offset) || offset.ult(kept)) continue;
    ir.SetInsertPoint(place);
    place->replaceAllUsesWith(ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), own, offset.getZExtValue() - kept));
    place->eraseFromParent();
  }
}

void simplify(llvm::Function& f) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  llvm::FunctionPassManager passes;
  llvm::ScalarizerPassOptions all;
  all.ScalarizeLoadStore = true;
  const auto registers = [&] {
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass());
  };
  registers();
  passes.addPass(llvm::ScalarizerPass(all));
  registers();
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  passes.run(f, analyses.functions);
}

}  // namespace

llvm::Function* scalar_form(llvm::Function& step, std::uint64_t kept, std::uint64_t bytes, const Target& target) {
  llvm::ValueToValueMapTy map;
  llvm::Function* const f = llvm::CloneFunction(&step, map);
  f->setLinkage(llvm::GlobalValue::InternalLinkage);
  try {
    make_checks(*f);
    llvm::removeUnreachableBlocks(*f);
    inline_calls(*f);
    leave_for_calls(*f);
    take_scratch(*f, kept, bytes);
    write_elements(*f, static_cast<std::uint64_t>(target.unrolled_elements));
    simplify(*f);
  } catch (const NoLanes&) {
    f->eraseFromParent();
    throw;
  }
  return f;
}

}  // namespace rml::codegen
