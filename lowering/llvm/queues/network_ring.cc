// Accesses rings of a network: the element and the key of a number in the current block, and the counts that other
// tasks read.
#include "lowering/llvm/queues/network_ring.h"

#include <algorithm>

namespace rml::codegen {

void release(Function& f, IrValue value, std::uint64_t offset) {
  auto* store = f.ir.CreateAlignedStore(value, f.at(offset), llvm::Align(8));
  store->setAtomic(llvm::AtomicOrdering::Release);
}

IrValue acquire(Function& f, std::uint64_t offset) {
  auto* load = f.ir.CreateAlignedLoad(f.module.i64(), f.at(offset), llvm::Align(8));
  load->setAtomic(llvm::AtomicOrdering::Acquire);
  return load;
}

namespace {

// The current block of a ring. The writer replaces it when it needs a larger one.
struct RingBlock {
  IrValue data, place;
};

RingBlock ring_block(Function& body, QueueId queue, IrValue number) {
  auto& ir = body.ir;
  auto* data = ir.CreateAlignedLoad(body.module.pointer(), body.at(body.module.layout.queues[queue.index].data),
                                    llvm::Align(8), "block");
  data->setAtomic(llvm::AtomicOrdering::Acquire);
  IrValue mask = ir.CreateLoad(body.module.i64(), ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), data, -8ull));
  return {data, ir.CreateAnd(number, mask)};
}

IrValue element_in(Function& body, QueueId queue, const RingBlock& block) {
  const steps::QueueInfo& info = body.module.program.queues[queue.index];
  auto* element = llvm::ArrayType::get(body.ir.getInt8Ty(), std::max<std::uint64_t>(bytes(info.dtype, info.shape), 1));
  return body.ir.CreateInBoundsGEP(element, block.data, block.place, "element");
}

IrValue key_in(Function& body, const RingBlock& block) {
  auto& ir = body.ir;
  IrValue keys =
      ir.CreateLoad(body.module.pointer(), ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), block.data, -16ull));
  return ir.CreateInBoundsGEP(body.module.i64(), keys, block.place, "key_at");
}

}  // namespace

IrValue network_element(Function& f, QueueId queue, IrValue number) {
  return element_in(f, queue, ring_block(f, queue, number));
}

IrValue network_key(Function& f, QueueId queue, IrValue number) {
  return f.ir.CreateLoad(f.module.i64(), key_in(f, ring_block(f, queue, number)));
}

// Pushes an element. If all readers have passed it already, it is not stored.
void network_push(Function& f, QueueId queue, const std::function<void(IrValue)>& write) {
  auto& ir = f.ir;
  const steps::QueueInfo& info = f.module.program.queues[queue.index];
  const QueueLayout& ring = f.module.layout.queues[queue.index];
  IrValue pushed = f.load_i64(ring.pushed);
  const auto put = [&] {
    const RingBlock block = ring_block(f, queue, pushed);
    write(element_in(f, queue, block));
    ir.CreateStore(f.key, key_in(f, block));
  };
  if (info.overtaken)
    f.when(ir.CreateICmpSGE(pushed, f.load_i64(ring.pushed + 8)), put);
  else
    put();
  release(f, ir.CreateAdd(pushed, ir.getInt64(1)), ring.pushed);
}

}  // namespace rml::codegen
