// Adds up rings and arrays from their declarations.
#include "lowering/llvm/interface/buffer_needs.h"

#include <algorithm>

#include "lowering/llvm/module/ir_types.h"

namespace rml::codegen {

BufferNeeds buffer_needs(const steps::Program& program) {
  BufferNeeds needs;
  const auto add = [&](DType dtype, const Shape& shape) {
    needs.bytes_per_cycle += std::max<std::uint64_t>(bytes(dtype, shape), 1);
    ++needs.buffers;
  };
  for (const steps::QueueInfo& queue : program.queues)
    if (!queue.passing) add(queue.dtype, queue.shape);
  for (const steps::ArrayInfo& array : program.arrays) add(array.dtype, array.shape);
  return needs;
}

}  // namespace rml::codegen
