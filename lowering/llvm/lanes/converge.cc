// Converges branches (converge.h). The two sides of a branch meet at its immediate postdominator, through which all
// paths of both sides pass.
#include "lowering/llvm/lanes/converge.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
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

// The blocks between the branch and the block where its sides meet.
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
    if (block == branch->getParent())
      throw NoLanes("it contains a loop whose number of rounds differs between lanes", branch);
    for (llvm::BasicBlock* next : llvm::successors(block)) add(next);
  }
  return found;
}

std::size_t instructions(const Blocks& blocks) {
  std::size_t count = 0;
  for (const llvm::BasicBlock* block : blocks) count += block->size();
  return count;
}

// True if the blocks call a function, which happens lane by lane.
bool calls(const Blocks& blocks) {
  return llvm::any_of(blocks, [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& i) {
      return llvm::isa<llvm::CallInst>(i) && !llvm::isa<llvm::IntrinsicInst>(i) && !lanes::is_any(i) &&
             !lanes::is_check(i);
    });
  });
}

// The common value that all these blocks pass to the phi; null if they differ.
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
  Branch(llvm::BranchInst* branch, llvm::BasicBlock* meet, Masks& masks, Varying& varying, const Target& target)
      : branch_(branch), at_(branch->getParent()), meet_(meet), masks_(masks), varying_(varying), target_(target) {}
  // Adds the blocks of its sides to `sides`.
  void converge(Blocks& sides);

 private:
  // A new block in which all paths of the side end. `given` gets the value that the side passes to each phi of `meet`.
  llvm::BasicBlock* close(const Blocks& blocks, llvm::BasicBlock* first, bool asks, std::vector<llvm::Value*>& given);
  // True if the code first tests whether any lane takes the side. False if the side selects an address.
  bool asks(const Blocks& blocks) const;
  // Branches into the side if any lane takes it, and on to `next`.
  void enter(llvm::BasicBlock* from, llvm::BasicBlock* first, llvm::BasicBlock* end, bool asks, llvm::Value* mask);
  void mask_blocks(const Blocks& blocks, llvm::Value* mask) {
    for (llvm::BasicBlock* block : blocks) masks_[block] = mask;
  }
  // Gives each phi at the meeting block the values that its sides have computed.
  void choose(llvm::Value* condition, llvm::BasicBlock* end, llvm::ArrayRef<llvm::Value*> yes,
              llvm::ArrayRef<llvm::Value*> no);

  llvm::BranchInst* const branch_;
  llvm::BasicBlock* const at_;
  llvm::BasicBlock* const meet_;
  Masks& masks_;
  Varying& varying_;
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

void Branch::choose(llvm::Value* condition, llvm::BasicBlock* end, llvm::ArrayRef<llvm::Value*> yes,
                    llvm::ArrayRef<llvm::Value*> no) {
  llvm::IRBuilder<> ir(end);
  std::vector<llvm::Value*> choices;
  for (llvm::PHINode& phi : meet_->phis()) {
    while (phi.getBasicBlockIndex(at_) >= 0) phi.removeIncomingValue(at_, false);
    const std::size_t k = choices.size();
    choices.push_back(ir.CreateSelect(condition, yes[k], no[k]));
    phi.addIncoming(choices.back(), end);
  }
  ir.CreateBr(meet_);
  if (meet_->getSinglePredecessor() != nullptr) {  // otherwise an outer side might be skipped
    for (llvm::PHINode& phi : meet_->phis()) varying_.forget(phi);
    llvm::FoldSingleEntryPHINodes(meet_);
  }
  for (llvm::Value* choice : choices) varying_.add(*choice);
}

void Branch::converge(Blocks& sides) {
  llvm::BasicBlock *yes = branch_->getSuccessor(0), *no = branch_->getSuccessor(1);
  const Blocks of_yes = side(yes, meet_, branch_), of_no = side(no, meet_, branch_);
  for (llvm::BasicBlock* block : of_yes)
    if (of_no.contains(block)) throw NoLanes("the sides of a branch share code", branch_);
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
  choose(condition, end_no, given_yes, given_no);
  mask_blocks(of_yes, with);
  mask_blocks(of_no, without);
  if (mask != nullptr) masks_[end_yes] = masks_[end_no] = mask;
  sides.insert(of_yes.begin(), of_yes.end());
  sides.insert(of_no.begin(), of_no.end());
}

llvm::BasicBlock* meeting_place(llvm::BranchInst* branch, const llvm::PostDominatorTree& after) {
  const auto* node = after.getNode(branch->getParent());
  llvm::BasicBlock* const meet = node == nullptr || node->getIDom() == nullptr ? nullptr : node->getIDom()->getBlock();
  if (meet == nullptr) throw NoLanes("a side of a branch does not return to the code after it", branch);
  return meet;
}

// Converges the differing branches outside of sides of other such branches, in the order of execution. Code after them,
// including their meeting blocks, stays in place. Returns false if there are none.
bool converge_outermost(llvm::Function& f, Masks& masks, const Target& target) {
  Varying varying(f);
  const llvm::PostDominatorTree after(f);
  Blocks sides;
  bool found = false;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&f)) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch == nullptr && !llvm::isa<llvm::ReturnInst>(block->getTerminator()))
      throw NoLanes("it contains a jump with several targets", block->getTerminator());
    if (branch == nullptr || !branch->isConditional() || sides.contains(block)) continue;
    if (!varying.contains(branch->getCondition())) continue;
    Branch(branch, meeting_place(branch, after), masks, varying, target).converge(sides);
    found = true;
  }
  return found;
}

bool is_sunk(const llvm::User* user) {
  return llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::GetElementPtrInst>(user);
}

using Choices = llvm::SetVector<llvm::SelectInst*>;

void add_place(Choices& open, llvm::Value* place) {
  auto* choice = llvm::dyn_cast<llvm::SelectInst>(place);
  if (choice != nullptr && choice->getType()->isPointerTy()) open.insert(choice);
}

// Replaces a load from a selected address by a selection of two loads. An undefined address is not loaded from.
// Selections of addresses that arise, or that are operands, are added to `open`.
void choose_values(llvm::SelectInst& choice, Choices& open) {
  for (unsigned k : {1u, 2u})
    if (llvm::isa<llvm::UndefValue>(choice.getOperand(k))) choice.setOperand(k, choice.getOperand(3 - k));
  for (llvm::User* user : llvm::make_early_inc_range(choice.users())) {
    auto* at = llvm::cast<llvm::Instruction>(user);
    llvm::Instruction* const with = at->clone();
    llvm::Instruction* const without = at->clone();
    with->insertBefore(at), without->insertBefore(at);
    with->replaceUsesOfWith(&choice, choice.getTrueValue());
    without->replaceUsesOfWith(&choice, choice.getFalseValue());
    auto* made = llvm::SelectInst::Create(choice.getCondition(), with, without, "", at->getIterator());
    at->replaceAllUsesWith(made);
    at->eraseFromParent();
    add_place(open, made);
  }
  for (llvm::Value* place : {choice.getTrueValue(), choice.getFalseValue()}) add_place(open, place);
  choice.eraseFromParent();
}

// Nested selections are resolved from the last one on.
void choose_values(llvm::Function& f) {
  Choices open;
  for (llvm::Instruction& i : llvm::instructions(f)) add_place(open, &i);
  while (!open.empty()) {
    llvm::SelectInst* const choice = open.pop_back_val();
    if (llvm::all_of(choice->users(), is_sunk)) choose_values(*choice, open);
  }
}

}  // namespace

Masks converge(llvm::Function& f, const Target& target) {
  Masks masks;
  while (converge_outermost(f, masks, target)) {
  }
  choose_values(f);
  return masks;
}

}  // namespace rml::codegen
