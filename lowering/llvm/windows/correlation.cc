// Emits the tiles of correlations (correlation.h).
#include <algorithm>
#include <limits>
#include <utility>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/windows/correlation.h"

namespace rml::codegen {

// ---- choice ---------------------------------------------------------------------------------

void CorrelationCode::choose() {
  const std::int64_t extent = c_.extent[2];
  double of_columns = 0;
  if (c_.stride[2] == 1)
    of_columns = static_cast<double>(extent) / static_cast<double>(blocks_of(extent, lanes) * lanes);
  const double of_channels =
      target.costs.channels * static_cast<double>(c_.out) / static_cast<double>(blocks_of(c_.out, lanes) * lanes);
  along_channels_ = of_channels > of_columns;
  if (along_channels_)
    choose_channels();
  else
    choose_columns();
}

void CorrelationCode::choose_columns() {
  const std::int64_t extent = c_.extent[2];
  height_ = std::min<std::int64_t>(c_.out, most_sums / 2);
  // Number of source vectors of a tile.
  const std::int64_t across = std::min(target.sums_under_way, most_sums / height_);
  vectors_ = std::min(across, blocks_of(extent, lanes));
  while (vectors_ > 1 && blocks_of(extent, vectors_ * lanes) * vectors_ > blocks_of(extent, lanes)) --vectors_;
  tile_rows_ = std::clamp<std::int64_t>(across / vectors_, 1, c_.extent[1]);
  width_ = std::min(vectors_ * lanes, extent);
}

// Finds the width of tiles that cover a row in the least time. The time is returned in units of one product of vectors.
double CorrelationCode::best_width(std::int64_t extent, std::int64_t& width) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t w = std::min(extent, most_sums / vectors_); w > 0; --w) {
    const auto products = static_cast<double>(w * vectors_);
    const double time = static_cast<double>(blocks_of(extent, w)) * (products + target.costs.tap);
    if (time < least) least = time, width = w;
  }
  return least;
}

// True if an output depends on the elements at one place only.
bool CorrelationCode::pointwise() const {
  for (std::size_t k = 0; k < c_.extent.size(); ++k)
    if (c_.window[k] != 1 || c_.before[k] != 0 || c_.result[k] != c_.extent[k] || c_.step[k] != 1 || c_.first[k] != 0 ||
        c_.taps[k].source != 0 || c_.extent[k] != blocks_of(c_.source[k], c_.stride[k]))
      return false;
  return true;
}

void CorrelationCode::choose_channels() {
  vectors_ = std::min<std::int64_t>(2, blocks_of(c_.out, lanes));
  if (pointwise()) {
    const std::int64_t all = volume(c_.extent);
    std::int64_t columns = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::int64_t n = 1; n <= std::min(all, target.longest_image_row); ++n)
      if (const double time = best_width(n, width_) / static_cast<double>(n); all % n == 0 && time <= least)
        least = time, columns = n;
    every_ = std::exchange(c_.stride, {1, 1, 1});
    c_.extent = c_.result = {1, all / columns, columns};
    flat_ = true;
  }
  best_width(c_.extent[2], width_);
}

// Returns the extents of the part of an image that tiles read.
Triple CorrelationCode::needed() const {
  Triple n{};
  for (std::size_t k = 0; k < n.size(); ++k) {
    const std::int64_t computed = k == 2 && !along_channels_ ? std::max(c_.extent[k], lanes) : c_.extent[k];
    n[k] = (computed - 1) * c_.stride[k] + c_.taps[k].furthest() + 1;
  }
  return n;
}

// ---- the whole correlation ------------------------------------------------------------------

void CorrelationCode::emit() {
  each_image([] {}, [&](IrValue number) { return place(result_, times(number, c_.out * volume(c_.result))); });
}

void CorrelationCode::emit(const std::function<void()>& begin, const std::function<void(IrValue, IrValue)>& take) {
  IrValue image = nullptr;
  const auto prepare = [&] {
    image = buffer(c_.out * volume(c_.result), "image");
    begin();
  };
  each_image(prepare, [&](IrValue) { return image; }, take);
}

void CorrelationCode::each_image(const std::function<void()>& begin, const std::function<IrValue(IrValue)>& result,
                                 const std::function<void(IrValue, IrValue)>& take) {
  PaddedImages images(f, dtype, c_.in, c_.source, c_.before, flat_ ? Triple{} : needed(), every_);
  image_ = flat_ ? c_.extent : images.extent();
  IrValue filters = along_channels_ ? panels() : filter_;
  const std::int64_t filters_of_group = (along_channels_ ? padded_out() : c_.out) * c_.in * c_.window_size();
  const std::int64_t products = c_.groups * c_.out * c_.in * c_.window_size() * volume(c_.extent);
  parallel(f, c_.batch, static_cast<double>(products) * nanoseconds_of_product(f, dtype), [&](const Rounds& some) {
    images.prepare();
    begin();
    f.loop(some, f.constant(c_.batch), [&](IrValue n) {
      f.loop(c_.groups, [&](IrValue g) {
        IrValue number = plus(times(n, c_.groups), g), to = result(number);
        IrValue image = images.image(place(source_, times(number, c_.in * volume(c_.source))));
        IrValue filter = place(filters, times(g, filters_of_group));
        if (along_channels_)
          channels(image, filter, to);
        else
          columns(image, filter, to);
        if (take) take(to, number);
      });
    });
  });
}

// The address of a row of outputs in the result's group of channels.
IrValue CorrelationCode::result_place(IrValue channel, IrValue row) {
  IrValue i = ir.CreateUDiv(row, f.constant(c_.extent[1])), j = ir.CreateURem(row, f.constant(c_.extent[1]));
  IrValue plane = plus(plus(times(channel, c_.result[0]), times(i, c_.step[0])), c_.first[0]);
  IrValue line = plus(plus(times(plane, c_.result[1]), times(j, c_.step[1])), c_.first[1]);
  return plus(times(line, c_.result[2]), c_.first[2]);
}

// The address of the source elements that a row's first output needs.
IrValue CorrelationCode::source_row(IrValue row) {
  IrValue i = ir.CreateUDiv(row, f.constant(c_.extent[1])), j = ir.CreateURem(row, f.constant(c_.extent[1]));
  return times(plus(times(times(i, c_.stride[0]), image_[1]), times(j, c_.stride[1])), image_[2]);
}

CorrelationCode::Sums CorrelationCode::sums(llvm::Type* type, std::int64_t count) {
  Sums all;
  for (std::int64_t k = 0; k < count; ++k) {
    all.push_back(f.variable(type, "sum"));
    ir.CreateStore(llvm::Constant::getNullValue(type), all.back());
  }
  return all;
}

// Calls visit with the offsets in the image and in the filter for every channel and tap.
void CorrelationCode::each_tap(const std::function<void(IrValue, IrValue)>& visit, std::int64_t source_channel,
                               std::int64_t filter_channel, std::int64_t filter_tap) {
  const auto& t = c_.taps;
  f.loop(c_.in, [&](IrValue channel) {
    f.loop(t[0].count, [&](IrValue a) {
      f.loop(t[1].count, [&](IrValue b) {
        IrValue plane = plus(times(a, t[0].source_step), t[0].source);
        IrValue line = plus(plus(times(plane, image_[1]), times(b, t[1].source_step)), t[1].source);
        IrValue from = plus(plus(times(channel, source_channel), times(line, image_[2])), t[2].source);
        IrValue tap = plus(times(a, t[0].filter_step * c_.window[1]), t[0].filter * c_.window[1] + t[1].filter);
        tap = plus(times(plus(tap, times(b, t[1].filter_step)), c_.window[2]), t[2].filter);
        IrValue weight = plus(times(channel, filter_channel), times(tap, filter_tap));
        const auto one = [&](IrValue k) {
          visit(plus(from, times(k, t[2].source_step)), plus(weight, times(k, t[2].filter_step * filter_tap)));
        };
        if (t[2].count > target.unrolled_taps) return f.loop(t[2].count, one);
        for (std::int64_t k = 0; k < t[2].count; ++k) one(f.constant(k));
      });
    });
  });
}

// ---- vectors along columns ------------------------------------------------------------------

void CorrelationCode::columns(IrValue image, IrValue filter, IrValue to) {
  const std::int64_t rows = c_.extent[0] * c_.extent[1];
  // The rows of a tile must be in one plane, at equal distances.
  const std::int64_t tile_rows = c_.extent[1] % tile_rows_ == 0 || c_.extent[0] == 1 ? tile_rows_ : 1;
  const auto of_channels = [&](IrValue channel, std::int64_t height) {
    const auto of_rows = [&](IrValue row, std::int64_t count) {
      blocks(c_.extent[2], width_,
             [&](IrValue column) { column_tile(image, filter, to, channel, row, column, height, count); });
    };
    f.loop(rows / tile_rows, [&](IrValue i) { of_rows(times(i, tile_rows), tile_rows); });
    if (rows % tile_rows != 0) of_rows(f.constant(rows / tile_rows * tile_rows), rows % tile_rows);
  };
  f.loop(c_.out / height_, [&](IrValue i) { of_channels(times(i, height_), height_); });
  if (c_.out % height_ != 0) of_channels(f.constant(c_.out / height_ * height_), c_.out % height_);
}

// The column at which the vector number k of a tile begins.
std::int64_t CorrelationCode::vector_column(std::int64_t k) const {
  return std::min(k * lanes, std::max<std::int64_t>(0, width_ - lanes));
}

void CorrelationCode::column_tile(IrValue image, IrValue filter, IrValue to, IrValue channel, IrValue row,
                                  IrValue column, std::int64_t height, std::int64_t rows) {
  llvm::Type* type = vector(lanes);
  const std::int64_t across = rows * vectors_;
  const Sums sum = sums(type, height * across);
  IrValue begin = place(image, plus(source_row(row), column));
  IrValue weights = place(filter, times(channel, c_.filter_out));
  each_tap(
      [&](IrValue from, IrValue weight) {
        std::vector<IrValue> x;
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t k = 0; k < vectors_; ++k)
            x.push_back(load_vector(place(begin, plus(from, r * c_.stride[1] * image_[2] + vector_column(k))), lanes));
        for (std::int64_t h = 0; h < height; ++h) {
          IrValue w = splat(load_scalar(place(weights, plus(weight, h * c_.filter_out))), lanes);
          for (std::int64_t k = 0; k < across; ++k) {
            auto* s = sum[static_cast<std::size_t>(h * across + k)];
            ir.CreateStore(fused(w, x[static_cast<std::size_t>(k)], ir.CreateLoad(type, s)), s);
          }
        }
      },
      volume(image_), c_.filter_in, 1);
  for (std::int64_t h = 0; h < height; ++h)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < vectors_; ++k)
        store_columns(ir.CreateLoad(type, sum[static_cast<std::size_t>(h * across + r * vectors_ + k)]), to,
                      plus(channel, h), plus(row, r), plus(column, vector_column(k)));
}

void CorrelationCode::store_columns(IrValue sums, IrValue to, IrValue channel, IrValue row, IrValue column) {
  IrValue address = place(to, plus(result_place(channel, row), times(column, c_.step[2])));
  const std::int64_t kept = std::min(lanes, c_.extent[2]);
  if (c_.step[2] == 1 && kept == lanes) return store_vector(sums, address);
  if (c_.step[2] == 1) {
    std::vector<llvm::Constant*> mask;
    for (std::int64_t k = 0; k < lanes; ++k) mask.push_back(ir.getInt1(k < kept));
    ir.CreateMaskedStore(sums, address, align, llvm::ConstantVector::get(mask));
    return;
  }
  for (std::int64_t k = 0; k < kept; ++k)
    ir.CreateAlignedStore(ir.CreateExtractElement(sums, static_cast<std::uint64_t>(k)), place(address, k * c_.step[2]),
                          align);
}

// ---- vectors along channels -----------------------------------------------------------------

std::int64_t CorrelationCode::padded_out() const { return blocks_of(c_.out, lanes) * lanes; }

// Calls visit(first channel, their number, vectors) for all panels of a group's output channels.
void CorrelationCode::each_panel(const std::function<void(IrValue, std::int64_t, std::int64_t)>& visit) {
  const std::int64_t whole = vectors_ * lanes, rest = c_.out % whole;
  f.loop(c_.out / whole, [&](IrValue i) { visit(times(i, whole), whole, vectors_); });
  if (rest != 0) visit(f.constant(c_.out - rest), rest, blocks_of(rest, lanes));
}

// Copies filters as [group, panel, channel in, tap, channel out of the panel], with zeros for missing channels.
IrValue CorrelationCode::panels() {
  const std::int64_t taps = c_.window_size(), inner = c_.in * taps;
  if (constant_ != nullptr) {
    const std::int64_t whole = vectors_ * lanes, rest = c_.out % whole;
    Panels all{.matrices = c_.groups, .distance = c_.out * inner};
    all.blocks = c_.in, all.block = c_.filter_in, all.inner = taps, all.row = 1;
    all.n = c_.out, all.column = c_.filter_out;
    all.widths.assign(static_cast<std::size_t>(c_.out / whole), whole);
    if (rest != 0) all.widths.push_back(blocks_of(rest, lanes) * lanes);
    return f.module.panels(*constant_, all);
  }
  const std::int64_t size = c_.groups * inner * padded_out();
  IrValue to = buffer(size, "filters");
  if (padded_out() != c_.out) clear(to, size);
  f.loop(c_.groups, [&](IrValue g) {
    IrValue group = place(filter_, times(g, c_.out * inner)), group_to = place(to, times(g, inner * padded_out()));
    each_panel([&](IrValue channel, std::int64_t channels, std::int64_t vectors) {
      const std::int64_t width = vectors * lanes;
      IrValue from = place(group, times(channel, c_.filter_out)), into = place(group_to, times(channel, inner));
      if (c_.filter_in == taps) return transpose(into, width, from, c_.filter_out, channels, inner);
      f.loop(c_.in, [&](IrValue c) {
        transpose(place(into, times(c, taps * width)), width, place(from, times(c, c_.filter_in)), c_.filter_out,
                  channels, taps);
      });
    });
  });
  return to;
}

// Blocks of rows whose sources stay in the cache for all panels, so that filters are read once per block.
void CorrelationCode::channels(IrValue image, IrValue filter, IrValue to) {
  const std::int64_t extent = c_.extent[2], rows = c_.extent[0] * c_.extent[1];
  const std::int64_t row_bytes = c_.in * c_.stride[1] * image_[2] * static_cast<std::int64_t>(byte_size(dtype));
  const std::int64_t near = std::clamp<std::int64_t>(target.second_bytes / row_bytes, 1, rows);
  const std::int64_t blocks_of_rows = blocks_of(rows, near), of_block = blocks_of(rows, blocks_of_rows);
  IrValue row_of_sums = buffer(extent * vectors_ * lanes, "row");
  f.loop(blocks_of(rows, of_block), [&](IrValue block) {
    IrValue begin = times(block, of_block), end = plus(begin, of_block);
    if (rows % of_block != 0) end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, end, f.constant(rows));
    each_panel([&](IrValue channel, std::int64_t channels, std::int64_t vectors) {
      IrValue weights = place(filter, times(channel, c_.in * c_.window_size()));
      f.loop({begin, end}, f.constant(rows), [&](IrValue row) {
        blocks(extent, width_,
               [&](IrValue column) { channel_tile(image, weights, row_of_sums, row, column, vectors); });
        store_channels(row_of_sums, vectors * lanes, to, channel, row, channels);
      });
    });
  });
}

// Stores a row of sums, [column, channel], of some channels.
void CorrelationCode::store_channels(IrValue sums, std::int64_t pitch, IrValue to, IrValue channel, IrValue row,
                                     std::int64_t channels) {
  if (c_.step[2] == 1)
    return transpose(place(to, result_place(channel, row)), volume(c_.result), sums, pitch, c_.extent[2], channels);
  f.loop(channels, [&](IrValue o) {
    IrValue line = place(to, result_place(plus(channel, o), row));
    f.loop(c_.extent[2], [&](IrValue p) {
      ir.CreateAlignedStore(load_scalar(place(sums, plus(times(p, pitch), o))), place(line, times(p, c_.step[2])),
                            align);
    });
  });
}

// Computes the sums of some columns of a row, stored as [column, channel].
void CorrelationCode::channel_tile(IrValue image, IrValue filter, IrValue to, IrValue row, IrValue column,
                                   std::int64_t vectors) {
  llvm::Type* type = vector(lanes);
  const Sums sum = sums(type, width_ * vectors);
  IrValue begin = place(image, plus(source_row(row), times(column, c_.stride[2])));
  const std::int64_t width = vectors * lanes;
  const auto element = static_cast<std::int64_t>(byte_size(dtype)), ahead = target.page_bytes / element;
  const bool far = c_.in * c_.window_size() * padded_out() * element > target.second_bytes;
  each_tap(
      [&](IrValue from, IrValue weight) {
        std::vector<IrValue> w;
        for (std::int64_t k = 0; k < vectors; ++k) {
          w.push_back(load_vector(place(filter, plus(weight, k * lanes)), lanes));
          if (far) prefetch(place(filter, plus(weight, k * lanes + ahead)));
        }
        for (std::int64_t p = 0; p < width_; ++p) {
          IrValue x = splat(load_scalar(place(begin, plus(from, p * c_.stride[2]))), lanes);
          for (std::int64_t k = 0; k < vectors; ++k) {
            auto* s = sum[static_cast<std::size_t>(p * vectors + k)];
            ir.CreateStore(fused(x, w[static_cast<std::size_t>(k)], ir.CreateLoad(type, s)), s);
          }
        }
      },
      volume(image_), c_.window_size() * width, width);
  for (std::int64_t p = 0; p < width_; ++p)
    for (std::int64_t k = 0; k < vectors; ++k) {
      IrValue at = plus(times(plus(column, p), width), k * lanes);
      store_vector(ir.CreateLoad(type, sum[static_cast<std::size_t>(p * vectors + k)]), place(to, at));
    }
}

}  // namespace rml::codegen
