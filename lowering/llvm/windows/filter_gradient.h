// The gradient of a convolution in its filter: for every pair of channels and every tap the sum of g[n, o, p] source[n,
// c, p stride + tap]. Vectors run along one of two axes:
//
//   channels  g is transposed, image by image; vectors of it times elements of the source
//   columns   vectors of g times vectors of the source; the lanes are added up at the end
//
// Sums stay in registers over an image, and in a buffer from one image to the next.
#pragma once

#include "lowering/llvm/windows/window_code.h"

namespace rml::codegen {

class FilterGradientCode : WindowCode {
 public:
  FilterGradientCode(Function& in, DType d, const Convolution& c, IrValue x, IrValue g, IrValue result);
  void emit();

 private:
  // A tile of sums: one for each pair of a number of g and a number of the source. The steps are
  // the distances between neighbours, in the operands (g_step, source_step) and in the sums.
  struct Tile {
    std::int64_t g_count, g_step, g_sum_step;
    std::int64_t source_count, source_step, source_sum_step;
  };
  Triple needed() const;
  void image(IrValue source, IrValue g, IrValue sums);
  // Calls visit for all tiles: of output channels with (first channel, count), of inputs with
  // (offset in the source, offset of the sum, count).
  void each_output(const std::function<void(IrValue, std::int64_t)>& visit);
  void each_input(std::int64_t most, const std::function<void(IrValue, IrValue, std::int64_t)>& visit);
  void each_row(const std::function<void(IrValue other, IrValue a, IrValue b)>& visit);
  void add_images(IrValue sums, std::int64_t sums_of_group);
  void tile(IrValue source, IrValue g, IrValue sums, const Tile&);
  IrValue adjoint(IrValue elements);

  const Convolution& c_;
  IrValue x_, g_, result_;
  bool along_channels_ = false, taps_in_tile_ = true;
  std::int64_t padded_out_ = 0;  // number of output channels of a group, rounded up to whole vectors
  std::int64_t pitch_ = 0;       // elements from one row of g to the next
  std::int64_t height_ = 1;      // number of output channels, or of vectors of them, of a tile
  IrValue copy_ = nullptr;       // address of a copy of g; null: g is read in place
  Rounds rows_;                  // the rows that this code computes
  Triple image_{}, in_{}, out_{}, size_{};
};

}  // namespace rml::codegen
