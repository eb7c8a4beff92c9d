// Queues between units: rings with one cursor per reader.
//
// Element number n of a queue lies at n modulo the capacity, a power of two. A ring is full
// when the slowest reader has not passed the element that would be overwritten; it then
// doubles: grow moves the block, and the old contents are repeated behind themselves, after
// which every element lies right for the new capacity:
//
//   elements 6 7 4 5 at capacity 4      =>      6 7 4 5 6 7 4 5, of which 4 5 6 7 are in use
//
// A reader that leaves out its first elements has its cursor ahead of the queue at first;
// an element that no reader will see is not stored. That of a reader of the first element only is
// then past all others. A passing queue has no ring: its front is what the caller gives.
//
// In a network (rml_ring) room is made by whoever runs it, cursors move on when an instant is over, and every element
// has a key beside it.
#include <algorithm>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

namespace {
constexpr std::int64_t past_all_elements = std::int64_t{1} << 62;  // the largest count that a checkpoint takes

std::uint64_t element_bytes(const steps::QueueInfo& queue) {
  return std::max<std::uint64_t>(bytes(queue.dtype, queue.shape), 1);
}
}  // namespace

// In a network the reader looks at the writer's count only when it has taken all that it has seen.
IrValue Body::waiting(QueueId queue, std::uint32_t reader) {
  const QueueLayout& ring = module.layout.queues[queue.index];
  if (module.program.network) {
    const std::uint64_t cursor = ring.cursor(reader), seen = cursor + 8;
    when(ir.CreateICmpSLE(load_i64(seen), load_i64(cursor)), [&] { store_i64(acquire(ring.pushed), seen); });
    return ir.CreateICmpSGT(load_i64(seen), load_i64(cursor), "waiting");
  }
  return ir.CreateICmpSGT(load_i64(ring.pushed), load_i64(ring.cursor(reader)), "waiting");
}

IrValue Body::front(QueueId queue, std::uint32_t reader) {
  const steps::QueueInfo& info = module.program.queues[queue.index];
  if (info.passing) {
    const auto input = std::ranges::find(module.program.input_queues, queue) - module.program.input_queues.begin();
    IrValue address = ir.CreateConstInBoundsGEP1_64(module.pointer(), given, static_cast<std::uint64_t>(input));
    return ir.CreateLoad(module.pointer(), address, "given");
  }
  const QueueLayout& ring = module.layout.queues[queue.index];
  IrValue count = load_i64(ring.cursor(reader));
  if (module.program.network) return network_element(queue, count);
  IrValue mask = ir.CreateSub(load_i64(ring.capacity), ir.getInt64(1));
  auto* element = llvm::ArrayType::get(ir.getInt8Ty(), element_bytes(info));
  return ir.CreateInBoundsGEP(element, ir.CreateLoad(module.pointer(), at(ring.data)), ir.CreateAnd(count, mask),
                              "front");
}

IrValue Body::past_all(const steps::Operand& operand) {
  const std::uint64_t cursor = module.layout.queues[operand.queue.index].cursor(operand.reader);
  return ir.CreateICmpEQ(load_i64(cursor), ir.getInt64(past_all_elements), "past_all");
}

void Body::advance(const steps::Operand& operand) {
  const std::uint64_t cursor = module.layout.queues[operand.queue.index].cursor(operand.reader);
  if (operand.once && module.program.network)
    release(ir.getInt64(past_all_elements), cursor);
  else if (operand.once)
    store_i64(ir.getInt64(past_all_elements), cursor);
  else
    advance(operand.queue, operand.reader);
}

void Body::advance(QueueId queue, std::uint32_t reader) {
  const std::uint64_t cursor = module.layout.queues[queue.index].cursor(reader);
  IrValue next = ir.CreateAdd(load_i64(cursor), ir.getInt64(1));
  if (module.program.network)
    release(next, cursor);
  else
    store_i64(next, cursor);
}

void Body::push(QueueId queue, const std::function<void(IrValue)>& write) {
  const steps::QueueInfo& info = module.program.queues[queue.index];
  const QueueLayout& ring = module.layout.queues[queue.index];
  if (info.readers == 0) return;
  if (module.program.network) return network_push(queue, write);
  IrValue pushed = load_i64(ring.pushed);
  if (info.passing) return store_i64(ir.CreateAdd(pushed, ir.getInt64(1)), ring.pushed);
  IrValue slowest = load_i64(ring.cursors);
  for (std::uint32_t reader = 1; reader < info.readers; ++reader) {
    slowest = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, slowest, load_i64(ring.cursor(reader)));
  }
  const auto put = [&] {
    IrValue capacity = load_i64(ring.capacity);
    when(ir.CreateICmpSGE(ir.CreateSub(pushed, slowest), capacity, "full"), [&] {
      std::uint64_t first = module.target.first_of_ring;
      while (first * element_bytes(info) < module.target.line_bytes) first *= 2;
      fail_memory(ir.CreateCall(module.grow_ring(),
                                {state, at(ring.data), ir.getInt64(element_bytes(info)), ir.getInt64(first)}));
    });
    IrValue place = ir.CreateAnd(pushed, ir.CreateSub(load_i64(ring.capacity), ir.getInt64(1)));
    auto* element = llvm::ArrayType::get(ir.getInt8Ty(), element_bytes(info));
    write(ir.CreateInBoundsGEP(element, ir.CreateLoad(module.pointer(), at(ring.data)), place, "back"));
  };
  const bool skipping =
      info.overtaken || std::any_of(info.skips.begin(), info.skips.end(), [](std::uint32_t n) { return n > 0; });
  if (skipping)
    when(ir.CreateICmpSGE(pushed, slowest), put);
  else
    put();
  store_i64(ir.CreateAdd(pushed, ir.getInt64(1)), ring.pushed);
}

void Body::store_value(ValueId v, IrValue to) {
  const Value& value = info(v);
  if (!small(v)) return copy_bytes(to, address(v), value.dtype, value.shape);
  for (std::int64_t i = 0; i < elements(value.shape); ++i)
    store(value.dtype, element(v, constant(i)), offset(value.dtype, to, constant(i)));
}

void Body::require(const std::vector<std::pair<ValueId, bool>>& conditions, llvm::BasicBlock* absent,
                   const std::function<IrValue(ValueId)>& value_of) {
  for (const auto& [condition, positive] : conditions) {
    auto* present = new_block("present");
    IrValue holds = value_of(condition);
    ir.CreateCondBr(holds, positive ? present : absent, positive ? absent : present);
    ir.SetInsertPoint(present);
  }
}

IrValue Body::ready(const std::vector<steps::Operand>& operands) {
  auto* done = new_block("ready");
  llvm::IRBuilder<> at_done(done);
  auto* result = at_done.CreatePHI(ir.getInt1Ty(), static_cast<unsigned>(operands.size() + 1), "is_ready");
  const auto peek = [&](ValueId condition) -> IrValue {
    const auto operand =
        std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.value == condition; });
    return operand == operands.end() ? scalar(condition) : load(DType::boolean, front(operand->queue, operand->reader));
  };
  for (const steps::Operand& operand : operands) {
    auto* next = new_block("operand");
    require(operand.when, next, peek);
    require(operand.needed, next, peek);
    IrValue there = waiting(operand.queue, operand.reader);
    if (operand.once) there = ir.CreateOr(there, past_all(operand));
    result->addIncoming(ir.getFalse(), ir.GetInsertBlock());
    ir.CreateCondBr(there, next, done);
    ir.SetInsertPoint(next);
  }
  result->addIncoming(ir.getTrue(), ir.GetInsertBlock());
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  return result;
}

void Body::pop_operands(const std::vector<steps::Operand>& operands, bool belated) {
  for (const steps::Operand& operand : operands) {
    if (operand.belated != belated) continue;
    auto* next = new_block("operand");
    require(operand.when, next, [&](ValueId condition) { return scalar(condition); });
    if (operand.needed.empty() && !operand.once) {
      define_at(operand.value, front(operand.queue, operand.reader));
    } else {
      auto *unneeded = new_block("unneeded"), *popped = new_block("popped");
      require(operand.needed, unneeded, [&](ValueId condition) { return scalar(condition); });
      if (operand.once) {
        auto* first = new_block("first");
        ir.CreateCondBr(past_all(operand), unneeded, first);
        ir.SetInsertPoint(first);
      }
      define_at(operand.value, front(operand.queue, operand.reader));
      ir.CreateBr(popped);
      ir.SetInsertPoint(unneeded);
      define_at(operand.value, zeros(operand.value));
      ir.CreateBr(popped);
      ir.SetInsertPoint(popped);
    }
    if (!module.program.network) advance(operand);
    ir.CreateBr(next);
    ir.SetInsertPoint(next);
  }
}

// ---- growth ---------------------------------------------------------------------------------

llvm::Function* Emission::grow() {
  if (grow_ != nullptr) return grow_;
  grow_ = function("grow", pointer(), {pointer(), pointer(), i64(), i64()}, false);
  IrValue state = grow_->getArg(0), old = grow_->getArg(1), old_bytes = grow_->getArg(2), new_bytes = grow_->getArg(3);
  auto *entry = llvm::BasicBlock::Create(context, "entry", grow_),
       *ask = llvm::BasicBlock::Create(context, "ask", grow_);
  auto *count = llvm::BasicBlock::Create(context, "count", grow_),
       *refused = llvm::BasicBlock::Create(context, "refused", grow_);
  llvm::IRBuilder<> ir(entry);
  IrValue host = ir.CreateLoad(pointer(), header_field(ir, state, field::grow));
  ir.CreateCondBr(ir.CreateIsNull(host), refused, ask);
  ir.SetInsertPoint(ask);
  auto* type = llvm::FunctionType::get(pointer(), {pointer(), pointer(), i64(), i64()}, false);
  IrValue moved = ir.CreateCall(
      type, host, {ir.CreateLoad(pointer(), header_field(ir, state, field::context)), old, old_bytes, new_bytes});
  ir.CreateCondBr(ir.CreateAnd(ir.CreateIsNull(moved), ir.CreateICmpNE(new_bytes, ir.getInt64(0))), refused, count);
  ir.SetInsertPoint(count);
  IrValue held = header_field(ir, state, field::buffer_bytes);
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(i64(), held), ir.CreateSub(new_bytes, old_bytes)), held);
  ir.CreateRet(moved);
  ir.SetInsertPoint(refused);
  ir.CreateRet(llvm::ConstantPointerNull::get(pointer()));
  return grow_;
}

llvm::Function* Emission::grow_ring() {
  if (grow_ring_ != nullptr) return grow_ring_;
  grow_ring_ = function("grow_ring", i64(), {pointer(), pointer(), i64(), i64()}, false);
  grow_ring_->addFnAttr(llvm::Attribute::Cold);
  grow_ring_->addFnAttr(llvm::Attribute::NoInline);
  IrValue state = grow_ring_->getArg(0), ring = grow_ring_->getArg(1), size = grow_ring_->getArg(2),
          first = grow_ring_->getArg(3);
  auto *entry = llvm::BasicBlock::Create(context, "entry", grow_ring_),
       *refused = llvm::BasicBlock::Create(context, "refused", grow_ring_);
  auto* moved = llvm::BasicBlock::Create(context, "moved", grow_ring_);
  llvm::IRBuilder<> ir(entry);
  IrValue capacity_at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), ring, 8);
  IrValue capacity = ir.CreateLoad(i64(), capacity_at);
  IrValue doubled = ir.CreateSelect(ir.CreateICmpEQ(capacity, ir.getInt64(0)), first, ir.CreateShl(capacity, 1));
  IrValue old_bytes = ir.CreateMul(capacity, size), new_bytes = ir.CreateMul(doubled, size);
  IrValue block = ir.CreateCall(grow(), {state, ir.CreateLoad(pointer(), ring), old_bytes, new_bytes});
  ir.CreateCondBr(ir.CreateIsNull(block), refused, moved);
  ir.SetInsertPoint(moved);
  ir.CreateMemCpy(ir.CreateInBoundsGEP(ir.getInt8Ty(), block, old_bytes), llvm::Align(1), block, llvm::Align(1),
                  old_bytes);
  ir.CreateStore(block, ring);
  ir.CreateStore(doubled, capacity_at);
  ir.CreateRet(ir.getInt64(0));
  ir.SetInsertPoint(refused);
  ir.CreateRet(new_bytes);
  return grow_ring_;
}

llvm::Function* Emission::grow_segment() {
  if (grow_segment_ != nullptr) return grow_segment_;
  grow_segment_ = function("grow_segment", i64(), {pointer(), pointer(), pointer(), pointer(), i64()}, false);
  grow_segment_->addFnAttr(llvm::Attribute::Cold);
  grow_segment_->addFnAttr(llvm::Attribute::NoInline);
  IrValue state = grow_segment_->getArg(0), records = grow_segment_->getArg(1), capacity_at = grow_segment_->getArg(2);
  IrValue sizes = grow_segment_->getArg(3), count = grow_segment_->getArg(4);
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, grow_segment_); };
  auto *entry = block("entry"), *loop = block("loop"), *one = block("one"), *moved = block("moved"),
       *refused = block("refused"), *done = block("done");
  llvm::IRBuilder<> ir(entry);
  IrValue capacity = ir.CreateLoad(i64(), capacity_at);
  IrValue doubled =
      ir.CreateSelect(ir.CreateICmpEQ(capacity, ir.getInt64(0)), ir.getInt64(16), ir.CreateShl(capacity, 1));
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  auto* k = ir.CreatePHI(i64(), 2);
  k->addIncoming(ir.getInt64(0), entry);
  ir.CreateCondBr(ir.CreateICmpULT(k, count), one, done);
  ir.SetInsertPoint(one);
  IrValue new_bytes = ir.CreateMul(doubled, ir.CreateLoad(i64(), ir.CreateInBoundsGEP(i64(), sizes, k)));
  IrValue record = ir.CreateInBoundsGEP(llvm::ArrayType::get(ir.getInt8Ty(), StateLayout::record_bytes), records, k);
  IrValue bytes_at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), record, 8);
  IrValue data =
      ir.CreateCall(grow(), {state, ir.CreateLoad(pointer(), record), ir.CreateLoad(i64(), bytes_at), new_bytes});
  ir.CreateCondBr(ir.CreateIsNull(data), refused, moved);
  ir.SetInsertPoint(moved);
  ir.CreateStore(data, record);
  ir.CreateStore(new_bytes, bytes_at);
  k->addIncoming(ir.CreateAdd(k, ir.getInt64(1)), moved);
  ir.CreateBr(loop);
  ir.SetInsertPoint(refused);
  ir.CreateRet(new_bytes);
  ir.SetInsertPoint(done);
  ir.CreateStore(doubled, capacity_at);
  ir.CreateRet(ir.getInt64(0));
  return grow_segment_;
}

}  // namespace rml::codegen
