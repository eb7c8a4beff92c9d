// Parts: pieces of a long list of statements as functions of their own, since LLVM's time and memory grow faster than
// a function does.
//
//   step(state): a; b; c; d      =>      step(state): part1(state); part2(state)
//                                        part1(state): a; b      part2(state): c; d
//
// A part is written like any other code, over the slots of the whole. When all is written, a variable that one part
// alone uses becomes its own; others lie in the state's scratch, where every part finds them. Of any other value of the
// whole (an argument, the position in a segment) a copy is put there when it is made, and taken out where a part
// begins. The work is in proportion to the code.
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/DebugInfo.h>

#include <stdexcept>
#include <utility>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

namespace {

// Of a value: what in each part uses it.
using UsesByPart = llvm::MapVector<llvm::Function*, std::vector<llvm::Use*>>;
using Foreign = llvm::MapVector<llvm::Value*, UsesByPart>;

Foreign foreign_values(const std::vector<llvm::Function*>& parts) {
  Foreign all;
  for (llvm::Function* part : parts)
    for (llvm::BasicBlock& block : *part)
      for (llvm::Instruction& instruction : block)
        for (llvm::Use& use : instruction.operands()) {
          auto* made = llvm::dyn_cast<llvm::Instruction>(use.get());
          auto* given = llvm::dyn_cast<llvm::Argument>(use.get());
          if ((made != nullptr && made->getFunction() != part) || (given != nullptr && given->getParent() != part))
            all[use.get()][part].push_back(&use);
        }
  return all;
}

// How far behind the state an address is, if it is at a constant distance.
std::optional<std::int64_t> distance(const llvm::Value* address, const llvm::Value* state,
                                     const llvm::DataLayout& layout) {
  llvm::APInt offset(layout.getIndexSizeInBits(0), 0);
  if (address->getType()->isPointerTy() && address->stripAndAccumulateConstantOffsets(layout, offset, false) == state)
    return offset.getSExtValue();
  return std::nullopt;
}

void replace(const std::vector<llvm::Use*>& uses, llvm::Value* by) {
  for (llvm::Use* use : uses) use->set(by);
}

llvm::Instruction* behind(llvm::Value* value, llvm::Function& whole) {
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr) return whole.getEntryBlock().getTerminator();
  return llvm::isa<llvm::PHINode>(made) ? &*made->getParent()->getFirstInsertionPt() : made->getNextNode();
}

// A debugger no longer finds it: what declares it stays behind, in another function.
void undeclare(llvm::AllocaInst* variable) {
  for (llvm::DbgDeclareInst* declared : llvm::findDbgDeclares(variable)) declared->eraseFromParent();
  for (llvm::DbgVariableRecord* declared : llvm::findDVRDeclares(variable)) declared->eraseFromParent();
}

// In front of all; without a place in the source, which would be one of another function.
struct AtEntry : llvm::IRBuilder<> {
  explicit AtEntry(llvm::Function& f) : llvm::IRBuilder<>(&f.getEntryBlock(), f.getEntryBlock().begin()) {
    SetCurrentDebugLocation({});
  }
};

}  // namespace

void Body::part(const std::function<void()>& body) {
  auto* f = module.function(whole_.function->getName() + ".part", module.i32(), {module.pointer()}, false);
  f->addFnAttr(llvm::Attribute::NoInline);
  parts_.push_back(f);
  bool faults = false;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    auto* outer_function = std::exchange(function_, f);
    IrValue outer_state = std::exchange(state, f->getArg(0));
    auto* outer_exit = std::exchange(exit_, llvm::BasicBlock::Create(module.context, "exit"));
    auto* outer_code = code_;
    const bool outer_can_fault = std::exchange(can_fault, false);
    const std::uint64_t outer_stack = std::exchange(stack_used_, 0);
    auto* outer_subprogram = std::exchange(subprogram_, module.debug.begin(*f, title_ + " (part)", here_));
    auto* entry = llvm::BasicBlock::Create(module.context, "entry", f);
    auto* begin = llvm::BasicBlock::Create(module.context, "begin", f);
    ir.SetInsertPoint(entry);
    locate(here_);
    ir.CreateBr(begin);
    ir.SetInsertPoint(begin);
    code_ = variable(module.i32(), "code");
    body();
    faults = can_fault;
    end_function({}, 0);
    function_ = outer_function, state = outer_state, exit_ = outer_exit, code_ = outer_code;
    can_fault = outer_can_fault, stack_used_ = outer_stack, subprogram_ = outer_subprogram;
  }
  locate(here_);
  IrValue code = ir.CreateCall(f, {state});
  if (faults) leave_unless_zero(code);
}

void Body::join_parts() {
  const llvm::DataLayout& data = module.module.getDataLayout();
  llvm::Function& whole = *whole_.function;
  const auto beyond = [&](llvm::IRBuilder<>& at, IrValue from, std::uint64_t offset) {
    return at.CreateInBoundsGEP(at.getInt8Ty(), from, constant(static_cast<std::int64_t>(offset)));
  };
  std::vector<std::pair<llvm::Value*, std::uint64_t>> shared;  // and where in the common memory
  std::uint64_t size = 0;
  Foreign all = foreign_values(parts_);
  for (auto& [value, users] : all) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made != nullptr && made->getFunction() != &whole)
      throw std::logic_error("code generation: a value of another part");
    if (const auto far = distance(value, whole_.state, data)) {
      for (auto& [part, uses] : users) {
        AtEntry at(*part);
        replace(uses, *far == 0 ? part->getArg(0) : beyond(at, part->getArg(0), static_cast<std::uint64_t>(*far)));
      }
    } else if (variable != nullptr && users.size() == 1 && variable->hasNUses(users.front().second.size())) {
      undeclare(variable);
      variable->moveBefore(&*users.front().first->getEntryBlock().begin());
      variable->setDebugLoc({});
    } else {
      llvm::Type* type = variable != nullptr ? variable->getAllocatedType() : value->getType();
      size = llvm::alignTo(size, data.getABITypeAlign(type));
      shared.emplace_back(value, size);
      size += data.getTypeAllocSize(type);
    }
  }
  if (shared.empty()) return;
  const std::uint64_t first = module.layout.scratch_behind_all(size) - module.layout.bias;
  for (const auto& [value, offset] : shared) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    for (auto& [part, uses] : all[value]) {
      AtEntry at(*part);
      IrValue place = beyond(at, part->getArg(0), first + offset);
      replace(uses, variable != nullptr ? place : at.CreateLoad(value->getType(), place, value->getName()));
    }
    llvm::IRBuilder<> at(variable != nullptr ? variable : behind(value, whole));
    IrValue place = beyond(at, whole_.state, first + offset);
    if (variable == nullptr) {
      at.CreateStore(value, place);
    } else {
      variable->replaceAllUsesWith(place);
      variable->eraseFromParent();
    }
  }
}

}  // namespace rml::codegen
