// Estimates the instructions that a call executes. Instructions in a loop count once per round, and both sides of
// branches count. The estimate is made before vectorisation. A call out of the module counts as one instruction, and a
// loop whose number of rounds depends on data counts as one round.
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "lowering/llvm/interface/executed.h"

namespace rml::codegen {
namespace {

// Recognises loops as Function::close_loop ends them: they continue while the next index is less than the extent.
double rounds_of(const llvm::Loop& loop) {
  const llvm::BasicBlock* const latch = loop.getLoopLatch();
  const auto* const again = latch == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(latch->getTerminator());
  if (again == nullptr || !again->isConditional()) return 1;
  const auto* const test = llvm::dyn_cast<llvm::ICmpInst>(again->getCondition());
  const auto* const extent = test == nullptr ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(test->getOperand(1));
  return extent == nullptr || extent->isNegative() ? 1 : static_cast<double>(extent->getZExtValue());
}

}  // namespace

double executed_instructions(const llvm::Function& function, double at_once) {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
  const llvm::LoopInfo loops(dominators);
  double all = 0;
  for (const llvm::BasicBlock& block : function) {
    double here = 0;
    for (const llvm::Instruction& instruction : block) {
      const auto* const call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* const called = call == nullptr ? nullptr : call->getCalledFunction();
      here += called == nullptr || called->isDeclaration() ? 1 : executed_instructions(*called, at_once);
    }
    for (const llvm::Loop* loop = loops.getLoopFor(&block); loop != nullptr; loop = loop->getParentLoop())
      here *= rounds_of(*loop);
    if (loops.getLoopFor(&block) != nullptr) here /= at_once;
    all += here;
  }
  return all;
}

}  // namespace rml::codegen
