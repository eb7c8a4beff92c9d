// Splits a long list of statements into functions (parts), because LLVM's time and memory grow faster than the size of
// a function.
//
//   step(state): a; b; c; d      =>      step(state): part1(state); part2(state)
//                                        part1(state): a; b      part2(state): c; d
//
// A part is emitted like any other code, over the slots of the whole. When all is emitted, a variable that only one
// part uses becomes local to it; others move to the state's scratch, where every part finds them. Any other value of
// the whole (an argument, the position in a segment) is copied there when it is computed, and loaded at the beginning
// of a part. The work is proportional to the size of the code.
#include "lowering/llvm/function/parts.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/DebugInfo.h>

#include <stdexcept>
#include <utility>

namespace rml::codegen {

namespace {

// The uses of a value in each part.
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

// The offset of an address in the state, if the offset is constant.
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

// Removes the variable from debug information, because its declaration remains in another function.
void undeclare(llvm::AllocaInst* variable) {
  for (llvm::DbgDeclareInst* declared : llvm::findDbgDeclares(variable)) declared->eraseFromParent();
  for (llvm::DbgVariableRecord* declared : llvm::findDVRDeclares(variable)) declared->eraseFromParent();
}

// Inserts at the beginning of a function. The location in the source is left empty, because it would be that of another
// function.
struct AtEntry : llvm::IRBuilder<> {
  explicit AtEntry(llvm::Function& f) : llvm::IRBuilder<>(&f.getEntryBlock(), f.getEntryBlock().begin()) {
    SetCurrentDebugLocation({});
  }
};

void join_parts(Function& f) {
  const llvm::DataLayout& data = f.module.module.getDataLayout();
  llvm::Function& whole = *f.whole.function;
  const auto beyond = [&](llvm::IRBuilder<>& at, IrValue from, std::uint64_t offset) {
    return at.CreateInBoundsGEP(at.getInt8Ty(), from, f.constant(static_cast<std::int64_t>(offset)));
  };
  // Variables that several parts use, with their offsets in the shared memory.
  std::vector<std::pair<llvm::Value*, std::uint64_t>> shared;
  std::uint64_t size = 0;
  Foreign all = foreign_values(f.parts);
  for (auto& [value, users] : all) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (made != nullptr && made->getFunction() != &whole)
      throw std::logic_error("code generation: a value of another part");
    if (const auto far = distance(value, f.whole.state, data)) {
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
  const std::uint64_t first = f.module.layout.scratch_behind_all(size) - f.module.layout.bias;
  for (const auto& [value, offset] : shared) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    for (auto& [part, uses] : all[value]) {
      AtEntry at(*part);
      IrValue place = beyond(at, part->getArg(0), first + offset);
      replace(uses, variable != nullptr ? place : at.CreateLoad(value->getType(), place, value->getName()));
    }
    llvm::IRBuilder<> at(variable != nullptr ? variable : behind(value, whole));
    IrValue place = beyond(at, f.whole.state, first + offset);
    if (variable == nullptr) {
      at.CreateStore(value, place);
    } else {
      variable->replaceAllUsesWith(place);
      variable->eraseFromParent();
    }
  }
}

}  // namespace

void emit_part(Function& f, const std::function<void()>& body) {
  auto& ir = f.ir;
  auto* piece = f.module.function(f.whole.function->getName() + ".part", f.module.i32(), {f.module.pointer()}, false);
  piece->addFnAttr(llvm::Attribute::NoInline);
  if (f.parts.empty()) f.at_end = [&f] { join_parts(f); };
  f.parts.push_back(piece);
  bool faults = false;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(ir);
    const Function::Frame outer = f.frame;
    IrValue outer_state = std::exchange(f.state, piece->getArg(0)), outer_cells = f.cells;
    const bool outer_can_fault = std::exchange(f.can_fault, false);
    f.frame.function = piece;
    f.frame.exit = llvm::BasicBlock::Create(f.module.context, "exit");
    f.frame.stack_used = 0;
    f.frame.subprogram = f.module.debug.begin(*piece, f.title + " (part)", f.here);
    auto* entry = llvm::BasicBlock::Create(f.module.context, "entry", piece);
    auto* begin = llvm::BasicBlock::Create(f.module.context, "begin", piece);
    ir.SetInsertPoint(entry);
    f.locate(f.here);
    ir.CreateBr(begin);
    ir.SetInsertPoint(begin);
    f.frame.code = f.variable(f.module.i32(), "code");
    if (f.cells != nullptr) f.cells = f.find_cells(f.state);
    body();
    faults = f.can_fault;
    f.end_frame({}, 0);
    f.frame = outer;
    f.state = outer_state, f.cells = outer_cells, f.can_fault = outer_can_fault;
  }
  f.locate(f.here);
  IrValue code = ir.CreateCall(piece, {f.state});
  if (faults) f.leave_unless_zero(code);
}

}  // namespace rml::codegen
