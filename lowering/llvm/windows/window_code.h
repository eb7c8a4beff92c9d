// Common code of generators over windows: index arithmetic, vectors, images padded with zeros.
#pragma once

#include <array>
#include <functional>

#include "lowering/llvm/function/function.h"
#include "semantics/operators/windows.h"

namespace rml::codegen {

using Triple = std::array<std::int64_t, window::max_axes>;

inline std::int64_t volume(const Triple& t) { return t[0] * t[1] * t[2]; }
inline Triple triple(const window::Windows& w, std::int64_t window::Axis::* member) {
  return {w.axis[0].*member, w.axis[1].*member, w.axis[2].*member};
}
inline std::int64_t blocks_of(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

class WindowCode {
 public:
  WindowCode(Function& in, DType d);

 protected:
  IrValue plus(IrValue a, IrValue c) { return ir.CreateAdd(a, c, "", false, true); }
  IrValue plus(IrValue a, std::int64_t c) { return c == 0 ? a : plus(a, f.constant(c)); }
  IrValue times(IrValue a, std::int64_t c) { return c == 1 ? a : ir.CreateMul(a, f.constant(c), "", false, true); }
  IrValue place(IrValue base, IrValue index) { return f.offset(dtype, base, index); }
  IrValue place(IrValue base, std::int64_t index) { return f.offset(dtype, base, f.constant(index)); }
  llvm::Type* vector(std::int64_t count) const;
  IrValue load_vector(IrValue address, std::int64_t count);
  IrValue load_scalar(IrValue address);
  void prefetch(IrValue address);
  IrValue splat(IrValue x, std::int64_t count);
  void store_vector(IrValue x, IrValue address);
  IrValue fused(IrValue a, IrValue b, IrValue c);  // a b + c
  // Calls visit(begin) for blocks of `size`, the last of which may begin earlier; extent >= size.
  void blocks(std::int64_t extent, std::int64_t size, const std::function<void(IrValue)>& visit);
  // Computes to[c to_pitch + r] = from[r from_pitch + c].
  void transpose(IrValue to, std::int64_t to_pitch, IrValue from, std::int64_t from_pitch, std::int64_t rows,
                 std::int64_t columns);
  void clear(IrValue to, std::int64_t count);
  void copy(IrValue to, IrValue from, std::int64_t count);
  IrValue buffer(std::int64_t count, const char* name) { return f.scratch(dtype, {count}, name); }

  Function& f;
  const Target& target;
  llvm::IRBuilder<>& ir;
  DType dtype;
  llvm::Type* scalar_type;
  llvm::Align align;
  std::int64_t lanes;
  std::int64_t most_sums;  // number of sums that fit in registers beside the operands
};

// Images padded with zeros, copied one group of channels at a time if necessary. Of each axis only every n-th element
// is copied if the rest is not read.
class PaddedImages : WindowCode {
 public:
  PaddedImages(Function&, DType, std::int64_t channels, const Triple& source, const Triple& before,
               const Triple& needed, const Triple& every = {1, 1, 1});
  void prepare(double around = 0);  // must be called before the first image is read
  IrValue image(IrValue elements);  // returns the address of an image, padded or copied if necessary
  const Triple& extent() const { return extent_; }
  std::int64_t channel() const { return volume(extent_); }

 private:
  std::int64_t channels_;
  Triple source_, before_, every_, kept_{}, extent_{};
  bool copied_;
  IrValue buffer_ = nullptr;
};

}  // namespace rml::codegen
