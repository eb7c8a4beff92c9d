// Loads and stores vectors of any number of elements, in pieces whose sizes are powers of two.
#include "lowering/llvm/function/vectors.h"

#include <algorithm>
#include <bit>

namespace rml::codegen {

IrValue strided(Function& f, IrValue base, IrValue index, std::int64_t stride) {
  auto& ir = f.ir;
  if (stride == 0) return base;
  IrValue step = stride == 1 ? index : ir.CreateMul(index, f.constant(stride), "", true, true);
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(base);
  return known != nullptr && known->isZero() ? step : ir.CreateAdd(base, step, "", true, true);
}

IrValue load_elements(Function& f, DType dtype, unsigned lane_count, std::int64_t count, IrValue from) {
  auto& ir = f.ir;
  if (lane_count == 1) return f.load(dtype, from);
  const llvm::Align align(byte_size(dtype));
  auto* type = llvm::FixedVectorType::get(memory_type(f.module.context, dtype), lane_count);
  IrValue all = llvm::Constant::getNullValue(type);
  if (lane_count == count) {
    all = ir.CreateAlignedLoad(type, from, align);
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      IrValue x = ir.CreateAlignedLoad(type->getElementType(), f.offset(dtype, from, f.constant(k)), align);
      all = ir.CreateInsertElement(all, x, static_cast<std::uint64_t>(k));
    }
  }
  if (dtype != DType::boolean) return all;
  return ir.CreateTrunc(all, llvm::FixedVectorType::get(ir.getInt1Ty(), lane_count));
}

// Stores the first `count` elements in pieces whose sizes are powers of two.
void store_elements(Function& f, DType dtype, IrValue vector, std::int64_t count, IrValue to, Access access) {
  auto& ir = f.ir;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (type == nullptr) return f.store(dtype, vector, to, access);
  const auto put = [&](IrValue piece, IrValue at) {
    auto* stored = ir.CreateAlignedStore(piece, at, llvm::Align(byte_size(dtype)));
    mark(stored, access);
  };
  if (type->getNumElements() == count) return put(vector, to);
  for (std::int64_t done = 0; done < count;) {
    std::int64_t size = 1;
    while (size * 2 <= count - done) size *= 2;
    IrValue at = f.offset(dtype, to, f.constant(done));
    if (size == 1) {
      put(ir.CreateExtractElement(vector, static_cast<std::uint64_t>(done)), at);
    } else {
      std::vector<int> lanes;
      for (std::int64_t k = 0; k < size; ++k) lanes.push_back(static_cast<int>(done + k));
      put(ir.CreateShuffleVector(vector, lanes), at);
    }
    done += size;
  }
}

void copy_elements(Function& f, DType dtype, std::int64_t lanes, std::int64_t count, IrValue from, IrValue to) {
  llvm::Type* const element = memory_type(f.module.context, dtype);
  const llvm::Align align(byte_size(dtype));
  for (std::int64_t done = 0, size = 0; done < count; done += size) {
    size = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(lanes, count - done))));
    llvm::Type* const type = size == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(size));
    const auto at = [&](IrValue base) { return f.offset(dtype, base, f.constant(done)); };
    f.ir.CreateAlignedStore(f.ir.CreateAlignedLoad(type, at(from), align), at(to), align);
  }
}

// In every round, vectors that are `distance` apart exchange the halves of lanes that are `distance` apart.
void transpose_squares(Function& f, std::vector<IrValue>& vectors) {
  auto& ir = f.ir;
  const auto size = static_cast<int>(vectors.size());
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vectors.front()->getType())->getNumElements());
  for (int distance = 1; distance < size; distance *= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lanes; ++lane) {
      const bool second = (lane & distance) != 0;
      low.push_back(second ? lanes + lane - distance : lane);
      high.push_back(second ? lanes + lane : lane + distance);
    }
    for (int i = 0; i < size; ++i) {
      if ((i & distance) != 0) continue;
      auto &x = vectors[static_cast<std::size_t>(i)], &y = vectors[static_cast<std::size_t>(i + distance)];
      IrValue upper = ir.CreateShuffleVector(x, y, high);
      x = ir.CreateShuffleVector(x, y, low);
      y = upper;
    }
  }
}

}  // namespace rml::codegen
