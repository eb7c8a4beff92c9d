// Vectors, transposition and padded copies for correlations and pooling.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/windows/window_code.h"

namespace rml::codegen {

WindowCode::WindowCode(Function& in, DType d)
    : f(in),
      target(in.module.target),
      ir(in.ir),
      dtype(d),
      scalar_type(register_type(in.module.context, d)),
      align(byte_size(d)),
      lanes(std::max<std::int64_t>(in.module.target.lanes(d), 2)),
      most_sums(in.module.target.sums()) {}

llvm::Type* WindowCode::vector(std::int64_t count) const {
  return llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(count));
}

IrValue WindowCode::load_vector(IrValue address, std::int64_t count) {
  return ir.CreateAlignedLoad(vector(count), address, align);
}

void WindowCode::prefetch(IrValue address) {
  // The arguments mean: for reading, with high locality, into the data cache.
  ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                     {address, ir.getInt32(0), ir.getInt32(3), ir.getInt32(1)});
}

IrValue WindowCode::load_scalar(IrValue address) { return ir.CreateAlignedLoad(scalar_type, address, align); }

IrValue WindowCode::splat(IrValue x, std::int64_t count) {
  return ir.CreateVectorSplat(static_cast<unsigned>(count), x);
}

void WindowCode::store_vector(IrValue x, IrValue address) { ir.CreateAlignedStore(x, address, align); }

IrValue WindowCode::fused(IrValue a, IrValue b, IrValue c) {
  return ir.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, c});
}

void WindowCode::blocks(std::int64_t extent, std::int64_t size, const std::function<void(IrValue)>& visit) {
  f.loop(blocks_of(extent, size), [&](IrValue i) {
    IrValue begin = times(i, size);
    if (extent % size != 0) begin = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, begin, f.constant(extent - size));
    visit(begin);
  });
}

void WindowCode::transpose(IrValue to, std::int64_t to_pitch, IrValue from, std::int64_t from_pitch, std::int64_t rows,
                           std::int64_t columns) {
  std::int64_t side = std::min(lanes, target.most_transposed);  // size of the squares that are transposed in registers
  while (side > std::min(rows, columns)) side /= 2;
  if (side < target.fewest_transposed) {
    f.loop(rows, [&](IrValue r) {
      f.loop(columns, [&](IrValue c) {
        ir.CreateAlignedStore(load_scalar(place(from, plus(times(r, from_pitch), c))),
                              place(to, plus(times(c, to_pitch), r)), align);
      });
    });
    return;
  }
  blocks(rows, side, [&](IrValue r) {
    blocks(columns, side, [&](IrValue c) {
      std::vector<IrValue> square;
      for (std::int64_t k = 0; k < side; ++k)
        square.push_back(load_vector(place(from, plus(times(plus(r, k), from_pitch), c)), side));
      transpose_squares(f, square);
      for (std::int64_t k = 0; k < side; ++k)
        store_vector(square[static_cast<std::size_t>(k)], place(to, plus(times(plus(c, k), to_pitch), r)));
    });
  });
}

void WindowCode::clear(IrValue to, std::int64_t count) {
  ir.CreateMemSet(to, ir.getInt8(0), static_cast<std::uint64_t>(count) * byte_size(dtype), align);
}

void WindowCode::copy(IrValue to, IrValue from, std::int64_t count) {
  ir.CreateMemCpy(to, align, from, align, static_cast<std::uint64_t>(count) * byte_size(dtype));
}

PaddedImages::PaddedImages(Function& in, DType d, std::int64_t channels, const Triple& source, const Triple& before,
                           const Triple& needed, const Triple& every)
    : WindowCode(in, d), channels_(channels), source_(source), before_(before), every_(every) {
  for (std::size_t k = 0; k < extent_.size(); ++k) {
    kept_[k] = blocks_of(source[k], every[k]);
    extent_[k] = std::max(before[k] + kept_[k], needed[k]);
  }
  copied_ = extent_ != source_;
}

void PaddedImages::prepare(double around) {
  if (!copied_) return;
  buffer_ = buffer(channels_ * channel(), "padded");
  if (around == 0) return clear(buffer_, channels_ * channel());
  f.loop(channels_ * channel(), [&](IrValue i) {
    ir.CreateAlignedStore(llvm::ConstantFP::get(scalar_type, around), place(buffer_, i), align);
  });
}

IrValue PaddedImages::image(IrValue elements) {
  if (!copied_) return elements;
  f.loop(channels_, [&](IrValue c) {
    f.loop(kept_[0], [&](IrValue i) {
      f.loop(kept_[1], [&](IrValue j) {
        IrValue from_plane = plus(times(c, source_[0]), times(i, every_[0]));
        IrValue from = place(elements, times(plus(times(from_plane, source_[1]), times(j, every_[1])), source_[2]));
        IrValue plane = plus(plus(times(c, extent_[0]), i), before_[0]);
        IrValue row = plus(plus(times(plane, extent_[1]), j), before_[1]);
        IrValue to = place(buffer_, plus(times(row, extent_[2]), before_[2]));
        if (every_[2] == 1) return copy(to, from, kept_[2]);
        f.loop(kept_[2], [&](IrValue k) {
          ir.CreateAlignedStore(load_scalar(place(from, times(k, every_[2]))), place(to, k), align);
        });
      });
    });
  });
  return buffer_;
}

}  // namespace rml::codegen
