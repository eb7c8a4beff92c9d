// Tests the conditions of operands one after the other, because an operand that is not needed may be missing.
#include "lowering/llvm/queues/operands.h"

#include <algorithm>

#include "lowering/llvm/queues/network_ring.h"
#include "lowering/llvm/queues/queue.h"

namespace rml::codegen {

namespace {

// The value of a condition. A condition that is an operand itself has not been popped yet.
IrValue condition_ahead(Function& f, const std::vector<steps::Operand>& operands, ValueId condition) {
  const auto operand = std::ranges::find(operands, condition, &steps::Operand::value);
  return operand == operands.end() ? f.scalar(condition)
                                   : f.load(DType::boolean, front(f, operand->queue, operand->reader));
}

}  // namespace

void require(Function& f, const std::vector<std::pair<ValueId, bool>>& conditions, llvm::BasicBlock* absent,
             const std::function<IrValue(ValueId)>& value_of) {
  auto& ir = f.ir;
  for (const auto& [condition, positive] : conditions) {
    auto* present = f.new_block("present");
    IrValue holds = value_of(condition);
    ir.CreateCondBr(holds, positive ? present : absent, positive ? absent : present);
    ir.SetInsertPoint(present);
  }
}

IrValue is_ready(Function& f, const std::vector<steps::Operand>& operands) {
  auto& ir = f.ir;
  auto* done = f.new_block("ready");
  llvm::IRBuilder<> at_done(done);
  auto* result = at_done.CreatePHI(ir.getInt1Ty(), static_cast<unsigned>(operands.size() + 1), "is_ready");
  const auto peek = [&](ValueId condition) { return condition_ahead(f, operands, condition); };
  for (const steps::Operand& operand : operands) {
    auto* next = f.new_block("operand");
    require(f, operand.when, next, peek);
    require(f, operand.needed, next, peek);
    IrValue there = waiting(f, operand.queue, operand.reader);
    if (operand.once) there = ir.CreateOr(there, past_all(f, operand));
    result->addIncoming(ir.getFalse(), ir.GetInsertBlock());
    ir.CreateCondBr(there, next, done);
    ir.SetInsertPoint(next);
  }
  result->addIncoming(ir.getTrue(), ir.GetInsertBlock());
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  return result;
}

void pop_operands(Function& f, const std::vector<steps::Operand>& operands, bool belated) {
  auto& ir = f.ir;
  for (const steps::Operand& operand : operands) {
    if (operand.belated != belated) continue;
    auto* next = f.new_block("operand");
    require(f, operand.when, next, [&](ValueId condition) { return f.scalar(condition); });
    if (operand.needed.empty() && !operand.once) {
      f.define_at(operand.value, front(f, operand.queue, operand.reader));
    } else {
      auto *unneeded = f.new_block("unneeded"), *popped = f.new_block("popped");
      require(f, operand.needed, unneeded, [&](ValueId condition) { return f.scalar(condition); });
      if (operand.once) {
        auto* first = f.new_block("first");
        ir.CreateCondBr(past_all(f, operand), unneeded, first);
        ir.SetInsertPoint(first);
      }
      f.define_at(operand.value, front(f, operand.queue, operand.reader));
      ir.CreateBr(popped);
      ir.SetInsertPoint(unneeded);
      f.define_at(operand.value, f.zeros(operand.value));
      ir.CreateBr(popped);
      ir.SetInsertPoint(popped);
    }
    if (!f.module.program.network) advance(f, operand);
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

void leave_unless_waiting(Function& f, QueueId queue, std::uint32_t reader, IrValue greatest) {
  auto& ir = f.ir;
  IrValue there = waiting(f, queue, reader);
  f.when(ir.CreateNot(there), [&] {
    f.leave_with(ir.getInt32(queue.index + 1));
    ir.SetInsertPoint(f.new_block("never"));
  });
  IrValue own = network_key(f, queue, f.load_i64(f.module.layout.queues[queue.index].cursor(reader)));
  IrValue so_far = ir.CreateLoad(f.module.i64(), greatest);
  ir.CreateStore(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, so_far, own), greatest);
}

void leave_unless_ready(Function& f, const std::vector<steps::Operand>& operands, IrValue greatest) {
  auto& ir = f.ir;
  const auto peek = [&](ValueId condition) { return condition_ahead(f, operands, condition); };
  for (const steps::Operand& operand : operands) {
    auto* next = f.new_block("operand");
    require(f, operand.when, next, peek);
    require(f, operand.needed, next, peek);
    if (operand.once) {
      auto* first = f.new_block("first");
      ir.CreateCondBr(past_all(f, operand), next, first);
      ir.SetInsertPoint(first);
    }
    leave_unless_waiting(f, operand.queue, operand.reader, greatest);
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

void advance_operands(Function& f, const std::vector<steps::Operand>& operands) {
  auto& ir = f.ir;
  for (const steps::Operand& operand : operands) {
    auto* next = f.new_block("operand");
    require(f, operand.when, next, [&](ValueId condition) { return f.scalar(condition); });
    advance(f, operand);
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

}  // namespace rml::codegen
