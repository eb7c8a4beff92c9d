// Convolutions as generated code: sums of products of a filter with the windows of a source.
//
//   result[n, g, o, p] = sum over c, j of source[n, g, c, p stride + first + j step] filter[g, o, c, tap j]
//
// A convolution is one correlation; its gradient in x is one for each place of a stride, since
// elements that far apart are seen by different taps. Everything is known but the addresses.
//
// A source whose windows reach over its edge is first copied, one image and group of channels at
// a time, into a buffer with zeros around it. Then one of two tiles of sums goes over the
// outputs, in registers while channels and taps run once through the operands:
//
//   columns   vectors along the last axis, which has stride 1: source vectors times one number
//             of the filter for each of some output channels
//   channels  vectors along output channels, of filters in panels of some channels, packed here, or
//             by the compiler if they are constants: filter vectors times one element of the source
//             for each of some columns; rows are transposed back. Windows of one element see an
//             image as a row of elements, which is cut into rows of a better length
//
// The one that wastes fewer lanes is taken. At an edge a tile begins earlier and computes some
// sums again. Sums run in the order of channels and taps and may be contracted.
#pragma once

#include <array>

#include "lowering/llvm/function/function.h"
#include "semantics/operators/windows.h"

namespace rml::codegen {

using Triple = std::array<std::int64_t, window::max_axes>;

// Along an axis: tap j of `count` is number filter + j filter_step of the filter's, and for output
// o element o stride + source + j source_step of the source.
struct AxisTaps {
  std::int64_t count = 1, filter = 0, filter_step = 1, source = 0, source_step = 1;
  std::int64_t last_source() const { return source + (count - 1) * source_step; }
  std::int64_t furthest() const { return std::max(source, last_source()); }
};

struct Correlation {
  DType dtype{};
  std::int64_t batch = 0, groups = 1, in = 0, out = 0;  // channels of one group
  Triple extent{1, 1, 1}, stride{1, 1, 1};              // outputs that are computed; of the source
  std::array<AxisTaps, window::max_axes> taps;
  Triple source{1, 1, 1}, before{0, 0, 0};  // the source's extents; zeros before it
  // In elements: from one output or input channel to the next in the filter, whose taps lie dense.
  std::int64_t filter_out = 0, filter_in = 0;
  Triple window{1, 1, 1};
  // Where outputs lie in the result: output o at first + o step.
  Triple result{1, 1, 1}, first{0, 0, 0}, step{1, 1, 1};

  std::int64_t window_size() const { return window[0] * window[1] * window[2]; }
};

inline std::int64_t volume(const Triple& t) { return t[0] * t[1] * t[2]; }
inline std::int64_t blocks_of(std::int64_t extent, std::int64_t size) { return (extent + size - 1) / size; }

// What generators over windows share: arithmetic on indices, vectors, buffers with zeros around.
class WindowCode {
 public:
  WindowCode(Body& b, DType d);

 protected:
  IrValue plus(IrValue a, IrValue c) { return ir.CreateAdd(a, c, "", false, true); }
  IrValue plus(IrValue a, std::int64_t c) { return c == 0 ? a : plus(a, body.constant(c)); }
  IrValue times(IrValue a, std::int64_t c) { return c == 1 ? a : ir.CreateMul(a, body.constant(c), "", false, true); }
  IrValue place(IrValue base, IrValue index) { return body.offset(dtype, base, index); }
  IrValue place(IrValue base, std::int64_t index) { return body.offset(dtype, base, body.constant(index)); }
  llvm::Type* vector(std::int64_t count) const;
  IrValue load_vector(IrValue address, std::int64_t count);
  IrValue load_scalar(IrValue address);
  void prefetch(IrValue address);
  IrValue splat(IrValue x, std::int64_t count);
  void store_vector(IrValue x, IrValue address);
  IrValue fused(IrValue a, IrValue b, IrValue c);  // a b + c
  // Calls f(begin) for blocks of `size`, the last of which may begin earlier; extent >= size.
  void blocks(std::int64_t extent, std::int64_t size, const std::function<void(IrValue)>& f);
  // to[c to_pitch + r] = from[r from_pitch + c]
  void transpose(IrValue to, std::int64_t to_pitch, IrValue from, std::int64_t from_pitch, std::int64_t rows,
                 std::int64_t columns);
  void clear(IrValue to, std::int64_t count);
  void copy(IrValue to, IrValue from, std::int64_t count);
  IrValue buffer(std::int64_t count, const char* name) { return body.scratch(dtype, {count}, name); }

  Body& body;
  const Target& target;
  llvm::IRBuilder<>& ir;
  DType dtype;
  llvm::Type* scalar_type;
  llvm::Align align;
  std::int64_t lanes;
  std::int64_t most_sums;  // that registers hold, beside operands
};

// Images with zeros around them, copied one group of channels at a time if need be; of each axis only every so many
// elements, if the rest is not read.
class PaddedImages : WindowCode {
 public:
  PaddedImages(Body&, DType, std::int64_t channels, const Triple& source, const Triple& before, const Triple& needed,
               const Triple& every = {1, 1, 1});
  void prepare(double around = 0);  // before the first image
  IrValue image(IrValue elements);  // the image that lies at this address
  const Triple& extent() const { return extent_; }
  std::int64_t channel() const { return volume(extent_); }

 private:
  std::int64_t channels_;
  Triple source_, before_, every_, kept_{}, extent_{};
  bool copied_;
  IrValue buffer_ = nullptr;
};

class CorrelationCode : WindowCode {
 public:
  // constant: the filter, if it is known and may be laid out otherwise.
  CorrelationCode(Body& body, const Correlation& c, IrValue source, IrValue filter, IrValue result,
                  const Tensor* constant)
      : WindowCode(body, c.dtype), c_(c), source_(source), filter_(filter), result_(result), constant_(constant) {
    choose();
  }
  void emit();
  // The result is not kept: each image and group of channels is handed out when it is there, with its number.
  // `begin` is called first, and in each thread.
  void emit(const std::function<void()>& begin, const std::function<void(IrValue image, IrValue number)>& take);

 private:
  using Sums = std::vector<llvm::AllocaInst*>;
  void choose();
  void choose_columns();
  void choose_channels();
  bool pointwise() const;
  double best_width(std::int64_t extent, std::int64_t& width) const;
  Triple needed() const;
  void each_image(const std::function<void()>& begin, const std::function<IrValue(IrValue number)>& result,
                  const std::function<void(IrValue result, IrValue number)>& take = {});
  IrValue result_place(IrValue output_channel, IrValue row);  // row: of axes 0 and 1, counted through
  void each_tap(const std::function<void(IrValue source, IrValue filter)>&, std::int64_t source_channel,
                std::int64_t filter_channel, std::int64_t filter_tap);
  void columns(IrValue image, IrValue filter, IrValue to);
  void column_tile(IrValue image, IrValue filter, IrValue to, IrValue channel, IrValue row, IrValue column,
                   std::int64_t height, std::int64_t rows);
  std::int64_t vector_column(std::int64_t k) const;
  void store_columns(IrValue sums, IrValue to, IrValue channel, IrValue row, IrValue column);
  std::int64_t padded_out() const;  // output channels of a group, in whole vectors
  void each_panel(const std::function<void(IrValue channel, std::int64_t channels, std::int64_t vectors)>&);
  IrValue panels();
  void channels(IrValue image, IrValue filter, IrValue to);
  void channel_tile(IrValue image, IrValue filter, IrValue to, IrValue row, IrValue column, std::int64_t vectors);
  void store_channels(IrValue sums, std::int64_t pitch, IrValue to, IrValue channel, IrValue row,
                      std::int64_t channels);
  IrValue source_row(IrValue row);
  Sums sums(llvm::Type* type, std::int64_t count);

  Correlation c_;          // as it is computed
  Triple every_{1, 1, 1};  // of the source only every so many elements are seen
  IrValue source_, filter_, result_;
  const Tensor* constant_;
  bool along_channels_ = false, flat_ = false;         // flat: rows are of the image as one row
  std::int64_t width_ = 1, vectors_ = 1, height_ = 1;  // of a tile: lanes or columns, vectors, output channels
  std::int64_t tile_rows_ = 1;
  Triple image_{};  // extents of an image as it is read
};

// The gradient of a convolution in its filter: for every pair of channels and every tap the sum
// of g[n, o, p] source[n, c, p stride + tap], again with vectors along one of two axes:
//
//   channels  g is transposed, image by image; vectors of it times elements of the source
//   columns   vectors of g times vectors of the source; the lanes are added up at the end
//
// Sums stay in registers over an image, and in a buffer from one image to the next.
class FilterGradientCode : WindowCode {
 public:
  FilterGradientCode(Body& b, DType d, const Convolution& c, IrValue x, IrValue g, IrValue result);
  void emit();

 private:
  // Sums of a tile: for `first` numbers by `second`, `step`s apart in the operands and in the sums.
  struct Tile {
    std::int64_t g_count, g_step, g_sum_step;
    std::int64_t source_count, source_step, source_sum_step;
  };
  Triple needed() const;
  void image(IrValue source, IrValue g, IrValue sums);
  // Calls f(output channel, its count) and f(offset in the source, of the sum, count) for all tiles.
  void each_output(const std::function<void(IrValue, std::int64_t)>& f);
  void each_input(std::int64_t most, const std::function<void(IrValue, IrValue, std::int64_t)>& f);
  void each_row(const std::function<void(IrValue other, IrValue a, IrValue b)>& f);
  void add_images(IrValue sums, std::int64_t sums_of_group);
  void tile(IrValue source, IrValue g, IrValue sums, const Tile&);
  IrValue adjoint(IrValue elements);

  const Convolution& c_;
  IrValue x_, g_, result_;
  bool along_channels_ = false, taps_in_tile_ = true;
  std::int64_t padded_out_ = 0;  // output channels of a group, in whole vectors
  std::int64_t pitch_ = 0;       // of a row of g
  std::int64_t height_ = 1;      // output channels, or vectors of them, of a tile
  IrValue copy_ = nullptr;       // of g, where it is not read where it lies
  Body::Rounds rows_;            // those that are computed here
  Triple image_{}, in_{}, out_{}, size_{};
};

}  // namespace rml::codegen
