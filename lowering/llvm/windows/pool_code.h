// Pooling as generated code, for floats: vectors along the last axis of the outputs.
//
// The elements that a vector of outputs sees by one tap are a stride apart. They are shuffled out of as many vectors as
// the stride is long. A channel whose windows reach over its edge is copied into a buffer, surrounded by neutral
// elements.
#pragma once

#include "lowering/llvm/windows/window_code.h"

namespace rml::codegen {

class PoolCode : WindowCode {
 public:
  enum class Kind : std::uint8_t { maximum, sum, average };
  // Prepares the code of a pool. `divisor` is the divisor of averages, if it is the same for all windows.
  PoolCode(Function& in, DType d, const window::Windows& w, Kind kind, std::int64_t divisor);
  void prepare();  // must be called before the first plane
  // Pools some of n consecutive channels.
  void planes(IrValue from, IrValue to, const Rounds& some, std::int64_t n);
  // For windows without overlap: adds g to a tensor of zeros where x has its maxima, or everywhere.
  void adjoint_planes(IrValue x, IrValue g, IrValue to, std::int64_t n);
  double nanoseconds_of_plane() const;
  static bool side_by_side(const window::Windows&);

 private:
  using Vectors = std::vector<IrValue>;
  IrValue begun(IrValue part);
  IrValue reduced(const Vectors& taps);
  void each_block(const std::function<void(IrValue source_row, IrValue source_column, IrValue output)>& visit,
                  const Triple& image);
  // For each tap of the window, in order: a vector of the elements that it covers for the outputs of a block.
  Vectors taps(IrValue plane, IrValue row, IrValue column, const Triple& image);
  Vectors apart(IrValue address);
  void store_apart(const Vectors&, IrValue address);

  const window::Windows& w_;
  Kind kind_;
  std::int64_t divisor_, width_;
  PaddedImages images_;
  Triple in_, out_, size_;
};

}  // namespace rml::codegen
