// See converge.h. A branch has two sides, which meet where all ways of both lead: at its immediate postdominator.
#include "lowering/llvm/lanes/converge.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <utility>
#include <vector>

#include "lowering/llvm/lanes/refused.h"
#include "lowering/llvm/lanes/scalar_form.h"
#include "lowering/llvm/lanes/varying.h"

namespace rml::codegen {

namespace {

using Blocks = llvm::DenseSet<llvm::BasicBlock*>;

// The blocks between the branch and where its sides meet.
Blocks side(llvm::BasicBlock* first, llvm::BasicBlock* meet, llvm::BranchInst* branch) {
  Blocks found;
  std::vector<llvm::BasicBlock*> open;
  const auto add = [&](llvm::BasicBlock* block) {
    if (block != meet && found.insert(block).second) open.push_back(block);
  };
  add(first);
  while (!open.empty()) {
    llvm::BasicBlock* const block = open.back();
    open.pop_back();
    if (block == branch->getParent()) throw NoLanes("a loop whose rounds differ between lanes", branch);
    for (llvm::BasicBlock* next : llvm::successors(block)) add(next);
  }
  return found;
}

std::size_t instructions(const Blocks& blocks) {
  std::size_t count = 0;
  for (const llvm::BasicBlock* block : blocks) count += block->size();
  return count;
}

// Whether a function is called, for each lane by itself.
bool calls(const Blocks& blocks) {
  return llvm::any_of(blocks, [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& i) {
      return llvm::isa<llvm::CallInst>(i) && !llvm::isa<llvm::IntrinsicInst>(i) && !lanes::is_any(i) &&
             !lanes::is_check(i);
    });
  });
}

// What all of these give to the phi; null: they do not give the same.
llvm::Value* same_from(const llvm::PHINode& phi, const std::vector<llvm::BasicBlock*>& blocks) {
  llvm::Value* const first = phi.getIncomingValueForBlock(blocks.front());
  const bool same =
      llvm::all_of(blocks, [&](const llvm::BasicBlock* block) { return phi.getIncomingValueForBlock(block) == first; });
  return same ? first : nullptr;
}

bool is_outside(const llvm::Value* v, const Blocks& blocks) {
  const auto* i = llvm::dyn_cast<llvm::Instruction>(v);
  return i == nullptr || !blocks.contains(const_cast<llvm::BasicBlock*>(i->getParent()));
}

class Branch {
 public:
  Branch(llvm::BranchInst* branch, llvm::BasicBlock* meet, Masks& masks, const Target& target)
      : branch_(branch), at_(branch->getParent()), meet_(meet), masks_(masks), target_(target) {}
  void converge();

 private:
  // A block in which all ways of the side end, with what each phi of `meet` is given by them.
  llvm::BasicBlock* close(const Blocks& blocks, llvm::BasicBlock* first, bool asks, std::vector<llvm::Value*>& given);
  // Whether it is asked first if any lane is in the side: not where that decides which place in memory is meant.
  bool asks(const Blocks& blocks) const;
  // From here to the side, where any lane is in it, and on to `next`.
  void enter(llvm::BasicBlock* from, llvm::BasicBlock* first, llvm::BasicBlock* end, bool asks, llvm::Value* mask);
  void mask_blocks(const Blocks& blocks, llvm::Value* mask) {
    for (llvm::BasicBlock* block : blocks) masks_[block] = mask;
  }

  llvm::BranchInst* const branch_;
  llvm::BasicBlock* const at_;
  llvm::BasicBlock* const meet_;
  Masks& masks_;
  const Target& target_;
};

bool Branch::asks(const Blocks& blocks) const {
  for (llvm::PHINode& phi : meet_->phis())
    for (unsigned k = 0; phi.getType()->isPointerTy() && k < phi.getNumIncomingValues(); ++k)
      if (!is_outside(phi.getIncomingValue(k), blocks)) return false;
  return calls(blocks) || instructions(blocks) > target_.worth_a_question;
}

llvm::BasicBlock* Branch::close(const Blocks& blocks, llvm::BasicBlock* first, bool asks,
                                std::vector<llvm::Value*>& given) {
  auto* end = llvm::BasicBlock::Create(at_->getContext(), "end", at_->getParent(), meet_);
  std::vector<llvm::BasicBlock*> from;
  for (llvm::BasicBlock* before : llvm::predecessors(meet_))
    if (blocks.contains(before)) from.push_back(before);
  for (llvm::PHINode& phi : meet_->phis()) {
    if (first == meet_) {
      given.push_back(phi.getIncomingValueForBlock(at_));
      continue;
    }
    if (llvm::Value* const same = same_from(phi, from); same != nullptr && (!asks || is_outside(same, blocks))) {
      given.push_back(same);
      for (llvm::BasicBlock* before : from) phi.removeIncomingValue(before, false);
      continue;
    }
    auto* joined = llvm::PHINode::Create(phi.getType(), static_cast<unsigned>(from.size()) + 1, "", end);
    for (llvm::BasicBlock* before : from) {
      joined->addIncoming(phi.getIncomingValueForBlock(before), before);
      phi.removeIncomingValue(before, false);
    }
    given.push_back(joined);
  }
  for (llvm::BasicBlock* before : from) before->getTerminator()->replaceSuccessorWith(meet_, end);
  return end;
}

void Branch::enter(llvm::BasicBlock* from, llvm::BasicBlock* first, llvm::BasicBlock* end, bool asks,
                   llvm::Value* mask) {
  llvm::IRBuilder<> ir(from);
  if (first == meet_) {
    ir.CreateBr(end);
    return;
  }
  first->replacePhiUsesWith(at_, from);
  if (!asks) {
    ir.CreateBr(first);
    return;
  }
  ir.CreateCondBr(ir.CreateCall(lanes::any(*from->getModule()), {mask}), first, end);
  for (llvm::PHINode& phi : end->phis()) phi.addIncoming(llvm::PoisonValue::get(phi.getType()), from);
}

void Branch::converge() {
  llvm::BasicBlock *yes = branch_->getSuccessor(0), *no = branch_->getSuccessor(1);
  const Blocks of_yes = side(yes, meet_, branch_), of_no = side(no, meet_, branch_);
  for (llvm::BasicBlock* block : of_yes)
    if (of_no.contains(block)) throw NoLanes("sides of a branch that share code", branch_);
  llvm::Value* const condition = branch_->getCondition();
  llvm::IRBuilder<> ir(branch_);
  llvm::Value* const mask = masks_.lookup(at_);
  const auto within = [&](llvm::Value* c) { return mask == nullptr ? c : ir.CreateLogicalAnd(mask, c); };
  llvm::Value* const with = within(condition);
  llvm::Value* const without = within(ir.CreateNot(condition));
  std::vector<llvm::Value*> given_yes, given_no;
  const bool asks_yes = asks(of_yes), asks_no = asks(of_no);
  llvm::BasicBlock* const end_yes = close(of_yes, yes, asks_yes, given_yes);
  llvm::BasicBlock* const end_no = close(of_no, no, asks_no, given_no);
  branch_->eraseFromParent();
  enter(at_, yes, end_yes, asks_yes, with);
  enter(end_yes, no, end_no, asks_no, without);
  ir.SetInsertPoint(end_no);
  std::size_t k = 0;
  for (llvm::PHINode& phi : meet_->phis()) {
    while (phi.getBasicBlockIndex(at_) >= 0) phi.removeIncomingValue(at_, false);
    phi.addIncoming(ir.CreateSelect(condition, given_yes[k], given_no[k]), end_no);
    ++k;
  }
  ir.CreateBr(meet_);
  if (meet_->getSinglePredecessor() != nullptr)
    llvm::FoldSingleEntryPHINodes(meet_);  // else an outer side may be left out
  mask_blocks(of_yes, with);
  mask_blocks(of_no, without);
  if (mask != nullptr) masks_[end_yes] = masks_[end_no] = mask;
}

// The first branch on what differs, in the order of execution: those within its sides come later.
llvm::BranchInst* next_branch(llvm::Function& f) {
  const auto varying = varying_values(f);
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f)) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch == nullptr && !llvm::isa<llvm::ReturnInst>(block->getTerminator()))
      throw NoLanes("a jump to one of several places", block->getTerminator());
    if (branch != nullptr && branch->isConditional() && varying.contains(branch->getCondition())) return branch;
  }
  return nullptr;
}

bool is_sunk(const llvm::User* user) {
  return llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::GetElementPtrInst>(user);
}

// What is read at one of two places is read at both, and chosen; what is at no place is not read.
void choose_values(llvm::SelectInst& choice) {
  for (unsigned k : {1u, 2u})
    if (llvm::isa<llvm::UndefValue>(choice.getOperand(k))) choice.setOperand(k, choice.getOperand(3 - k));
  for (llvm::User* user : llvm::make_early_inc_range(choice.users())) {
    auto* at = llvm::cast<llvm::Instruction>(user);
    llvm::Instruction* const with = at->clone();
    llvm::Instruction* const without = at->clone();
    with->insertBefore(at), without->insertBefore(at);
    with->replaceUsesOfWith(&choice, choice.getTrueValue());
    without->replaceUsesOfWith(&choice, choice.getFalseValue());
    at->replaceAllUsesWith(llvm::SelectInst::Create(choice.getCondition(), with, without, "", at->getIterator()));
    at->eraseFromParent();
  }
  choice.eraseFromParent();
}

// Of choices of choices the last ones first.
void choose_values(llvm::Function& f) {
  for (bool again = true; again;) {
    again = false;
    for (llvm::Instruction& i : llvm::instructions(f)) {
      auto* choice = i.getType()->isPointerTy() ? llvm::dyn_cast<llvm::SelectInst>(&i) : nullptr;
      if (choice == nullptr || !llvm::all_of(choice->users(), is_sunk)) continue;
      choose_values(*choice);
      again = true;
      break;
    }
  }
}

}  // namespace

Masks converge(llvm::Function& f, const Target& target) {
  Masks masks;
  while (llvm::BranchInst* branch = next_branch(f)) {
    const llvm::PostDominatorTree after(f);
    const auto* node = after.getNode(branch->getParent());
    llvm::BasicBlock* const meet =
        node == nullptr || node->getIDom() == nullptr ? nullptr : node->getIDom()->getBlock();
    if (meet == nullptr) throw NoLanes("a branch that does not come back", branch);
    Branch(branch, meet, masks, target).converge();
  }
  choose_values(f);
  return masks;
}

}  // namespace rml::codegen
