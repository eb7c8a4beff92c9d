// Queues between units: rings with one cursor per reader.
//
// Element number n of a queue is stored at n modulo the capacity, a power of two. A ring is full if the slowest reader
// has not passed the element that would be overwritten. Then the capacity doubles: grow moves the block and repeats the
// old contents after themselves, so that every element is at the right index for the new capacity:
//
//   elements 6 7 4 5 at capacity 4      =>      6 7 4 5 6 7 4 5, of which 4 5 6 7 are in use
//
// The cursor of a reader that skips its first elements starts ahead of the queue. An element that all readers skip is
// not stored. The cursor of a reader of the first element only moves past all others after it. A passing queue has no
// ring: its front is the caller's element.
//
// In a network (rml_ring) the code that runs a task makes room, cursors advance at the end of an instant, and every
// element has a key beside it.
#include "lowering/llvm/queues/queue.h"

#include <algorithm>

#include "lowering/llvm/queues/network_ring.h"

namespace rml::codegen {

namespace {

constexpr std::int64_t past_all_elements = std::int64_t{1} << 62;  // the largest count of elements in a checkpoint

std::uint64_t element_bytes(const steps::QueueInfo& queue) {
  return std::max<std::uint64_t>(bytes(queue.dtype, queue.shape), 1);
}

}  // namespace

// In a network the reader loads the writer's count only after it has taken all elements known so far.
IrValue waiting(Function& f, QueueId queue, std::uint32_t reader) {
  auto& ir = f.ir;
  const QueueLayout& ring = f.module.layout.queues[queue.index];
  if (f.module.program.network) {
    const std::uint64_t cursor = ring.cursor(reader), seen = cursor + 8;
    f.when(ir.CreateICmpSLE(f.load_i64(seen), f.load_i64(cursor)), [&] { f.store_i64(acquire(f, ring.pushed), seen); });
    return ir.CreateICmpSGT(f.load_i64(seen), f.load_i64(cursor), "waiting");
  }
  return ir.CreateICmpSGT(f.load_i64(ring.pushed), f.load_i64(ring.cursor(reader)), "waiting");
}

IrValue front(Function& f, QueueId queue, std::uint32_t reader) {
  auto& ir = f.ir;
  const steps::QueueInfo& info = f.module.program.queues[queue.index];
  if (info.passing) {
    const auto input = std::ranges::find(f.module.program.input_queues, queue) - f.module.program.input_queues.begin();
    IrValue address = ir.CreateConstInBoundsGEP1_64(f.module.pointer(), f.given, static_cast<std::uint64_t>(input));
    return ir.CreateLoad(f.module.pointer(), address, "given");
  }
  const QueueLayout& ring = f.module.layout.queues[queue.index];
  IrValue count = f.load_i64(ring.cursor(reader));
  if (f.module.program.network) return network_element(f, queue, count);
  IrValue mask = ir.CreateSub(f.load_i64(ring.capacity), ir.getInt64(1));
  auto* element = llvm::ArrayType::get(ir.getInt8Ty(), element_bytes(info));
  return ir.CreateInBoundsGEP(element, ir.CreateLoad(f.module.pointer(), f.at(ring.data)), ir.CreateAnd(count, mask),
                              "front");
}

IrValue past_all(Function& f, const steps::Operand& operand) {
  auto& ir = f.ir;
  const std::uint64_t cursor = f.module.layout.queues[operand.queue.index].cursor(operand.reader);
  return ir.CreateICmpEQ(f.load_i64(cursor), ir.getInt64(past_all_elements), "past_all");
}

void advance(Function& f, const steps::Operand& operand) {
  auto& ir = f.ir;
  const std::uint64_t cursor = f.module.layout.queues[operand.queue.index].cursor(operand.reader);
  if (operand.once && f.module.program.network)
    release(f, ir.getInt64(past_all_elements), cursor);
  else if (operand.once)
    f.store_i64(ir.getInt64(past_all_elements), cursor);
  else
    advance(f, operand.queue, operand.reader);
}

void advance(Function& f, QueueId queue, std::uint32_t reader) {
  auto& ir = f.ir;
  const std::uint64_t cursor = f.module.layout.queues[queue.index].cursor(reader);
  IrValue next = ir.CreateAdd(f.load_i64(cursor), ir.getInt64(1));
  if (f.module.program.network)
    release(f, next, cursor);
  else
    f.store_i64(next, cursor);
}

void push(Function& f, QueueId queue, const std::function<void(IrValue)>& write) {
  auto& ir = f.ir;
  const steps::QueueInfo& info = f.module.program.queues[queue.index];
  const QueueLayout& ring = f.module.layout.queues[queue.index];
  if (info.readers == 0) return;
  if (f.module.program.network) return network_push(f, queue, write);
  IrValue pushed = f.load_i64(ring.pushed);
  if (info.passing) return f.store_i64(ir.CreateAdd(pushed, ir.getInt64(1)), ring.pushed);
  IrValue slowest = f.load_i64(ring.cursors);
  for (std::uint32_t reader = 1; reader < info.readers; ++reader) {
    slowest = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, slowest, f.load_i64(ring.cursor(reader)));
  }
  const auto put = [&] {
    IrValue capacity = f.load_i64(ring.capacity);
    f.when(ir.CreateICmpSGE(ir.CreateSub(pushed, slowest), capacity, "full"), [&] {
      std::uint64_t first = f.module.target.first_of_ring;
      while (first * element_bytes(info) < f.module.target.line_bytes) first *= 2;
      f.fail_memory(ir.CreateCall(f.module.grow_ring(),
                                  {f.state, f.at(ring.data), ir.getInt64(element_bytes(info)), ir.getInt64(first)}));
    });
    IrValue place = ir.CreateAnd(pushed, ir.CreateSub(f.load_i64(ring.capacity), ir.getInt64(1)));
    auto* element = llvm::ArrayType::get(ir.getInt8Ty(), element_bytes(info));
    write(ir.CreateInBoundsGEP(element, ir.CreateLoad(f.module.pointer(), f.at(ring.data)), place, "back"));
  };
  const bool skipping =
      info.overtaken || std::any_of(info.skips.begin(), info.skips.end(), [](std::uint32_t n) { return n > 0; });
  if (skipping)
    f.when(ir.CreateICmpSGE(pushed, slowest), put);
  else
    put();
  f.store_i64(ir.CreateAdd(pushed, ir.getInt64(1)), ring.pushed);
}

}  // namespace rml::codegen
