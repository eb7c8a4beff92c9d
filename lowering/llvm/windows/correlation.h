// Convolutions as generated code: sums of products of a filter with the windows of a source.
//
//   result[n, g, o, p] = sum over c, j of source[n, g, c, p stride + first + j step] filter[g, o, c, tap j]
//
// A convolution is one correlation. Its gradient in x is one correlation for each place of a stride, because elements
// that far apart are seen by different taps. Everything is known at compile time, except the addresses.
//
// A source whose windows reach over its edge is first copied, one image and group of channels at a time, into a buffer
// with zeros around it. Then a tile of sums moves over the outputs. The sums stay in registers while channels and taps
// run once through the operands. There are two kinds of tiles:
//
//   columns   vectors along the last axis, which has stride 1: source vectors times one number
//             of the filter for each of some output channels
//   channels  vectors along output channels, of filters in panels of some channels, packed here, or
//             by the compiler if they are constants: filter vectors times one element of the source
//             for each of some columns; rows are transposed back. Windows of one element see an
//             image as a row of elements, which is cut into rows of a better length
//
// The kind that wastes fewer lanes is used. At an edge a tile begins earlier and computes some sums again. Sums run in
// the order of channels and taps and may be contracted.
#pragma once

#include "lowering/llvm/windows/window_code.h"

namespace rml::codegen {

// The taps along an axis. Tap j of `count` is number filter + j filter_step of the filter. For output o it reads
// element o stride + source + j source_step of the source.
struct AxisTaps {
  std::int64_t count = 1, filter = 0, filter_step = 1, source = 0, source_step = 1;
  std::int64_t last_source() const { return source + (count - 1) * source_step; }
  std::int64_t furthest() const { return std::max(source, last_source()); }
};

struct Correlation {
  DType dtype{};
  // Size of the batch; numbers of groups, and of channels of one group.
  std::int64_t batch = 0, groups = 1, in = 0, out = 0;
  Triple extent{1, 1, 1}, stride{1, 1, 1};  // extents of the computed outputs; their stride in the source
  std::array<AxisTaps, window::max_axes> taps;
  Triple source{1, 1, 1}, before{0, 0, 0};  // extents of the source; number of zeros before it
  // Distance in elements from one output or input channel to the next in the filter, whose taps are dense.
  std::int64_t filter_out = 0, filter_in = 0;
  Triple window{1, 1, 1};
  // Places of outputs in the result: output o is at first + o step.
  Triple result{1, 1, 1}, first{0, 0, 0}, step{1, 1, 1};

  std::int64_t window_size() const { return window[0] * window[1] * window[2]; }
};

class CorrelationCode : WindowCode {
 public:
  // Prepares the code of a correlation. `constant` is the filter, if it is known and may be stored in another layout.
  CorrelationCode(Function& f, const Correlation& c, IrValue source, IrValue filter, IrValue result,
                  const Tensor* constant)
      : WindowCode(f, c.dtype), c_(c), source_(source), filter_(filter), result_(result), constant_(constant) {
    choose();
  }
  void emit();
  // Does not keep the result: hands out each image and group of channels when it is complete, with its number. `begin`
  // is called first, and in each thread.
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
  // Address of a result. `row` is the flat index over axes 0 and 1.
  IrValue result_place(IrValue output_channel, IrValue row);
  void each_tap(const std::function<void(IrValue source, IrValue filter)>&, std::int64_t source_channel,
                std::int64_t filter_channel, std::int64_t filter_tap);
  void columns(IrValue image, IrValue filter, IrValue to);
  void column_tile(IrValue image, IrValue filter, IrValue to, IrValue channel, IrValue row, IrValue column,
                   std::int64_t height, std::int64_t rows);
  std::int64_t vector_column(std::int64_t k) const;
  void store_columns(IrValue sums, IrValue to, IrValue channel, IrValue row, IrValue column);
  std::int64_t padded_out() const;  // number of output channels of a group, rounded up to whole vectors
  void each_panel(const std::function<void(IrValue channel, std::int64_t channels, std::int64_t vectors)>&);
  IrValue panels();
  void channels(IrValue image, IrValue filter, IrValue to);
  void channel_tile(IrValue image, IrValue filter, IrValue to, IrValue row, IrValue column, std::int64_t vectors);
  void store_channels(IrValue sums, std::int64_t pitch, IrValue to, IrValue channel, IrValue row,
                      std::int64_t channels);
  IrValue source_row(IrValue row);
  Sums sums(llvm::Type* type, std::int64_t count);

  Correlation c_;          // the correlation, in the form that is computed
  Triple every_{1, 1, 1};  // distance of the elements of the source that are read
  IrValue source_, filter_, result_;
  const Tensor* constant_;
  bool along_channels_ = false, flat_ = false;         // `flat_`: the rows of an image are computed as one row
  std::int64_t width_ = 1, vectors_ = 1, height_ = 1;  // size of a tile: lanes or columns, vectors, and output channels
  std::int64_t tile_rows_ = 1;
  Triple image_{};  // extents of the part of an image that tiles read
};

}  // namespace rml::codegen
