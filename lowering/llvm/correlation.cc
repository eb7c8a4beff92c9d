// The tiles of correlations; see correlation.h.
#include <algorithm>

#include "lowering/llvm/correlation.h"

namespace rml::codegen {

namespace {
constexpr std::int64_t most_unrolled = 16;  // taps of a row
}  // namespace

// ---- choice ---------------------------------------------------------------------------------

void CorrelationCode::choose() {
  const std::int64_t extent = c_.extent[2];
  double of_columns = 0;
  if (c_.stride[2] == 1)
    of_columns = static_cast<double>(extent) / static_cast<double>(blocks_of(extent, lanes) * lanes);
  const double of_channels = 0.95 * static_cast<double>(c_.out) / static_cast<double>(blocks_of(c_.out, lanes) * lanes);
  along_channels_ = of_channels > of_columns;
  if (along_channels_)
    choose_channels();
  else
    choose_columns();
}

void CorrelationCode::choose_columns() {
  const std::int64_t extent = c_.extent[2];
  height_ = std::min<std::int64_t>(c_.out, most_sums / 2);
  const std::int64_t across = std::min<std::int64_t>(8, most_sums / height_);  // source vectors of a tile
  vectors_ = std::min(across, blocks_of(extent, lanes));
  while (vectors_ > 1 && blocks_of(extent, vectors_ * lanes) * vectors_ > blocks_of(extent, lanes)) --vectors_;
  tile_rows_ = std::clamp<std::int64_t>(across / vectors_, 1, c_.extent[1]);
  width_ = std::min(vectors_ * lanes, extent);
}

void CorrelationCode::choose_channels() {
  padded_out_ = blocks_of(c_.out, lanes) * lanes;
  vectors_ = std::min<std::int64_t>(2, padded_out_ / lanes);
  const std::int64_t most = std::min<std::int64_t>(c_.extent[2], most_sums / vectors_);
  width_ = most;
  for (std::int64_t w = most - 1; w >= std::max<std::int64_t>(most / 2, 4); --w)
    if (blocks_of(c_.extent[2], w) * w < blocks_of(c_.extent[2], width_) * width_) width_ = w;
}

// The extents of an image that tiles read.
Triple CorrelationCode::needed() const {
  Triple n{};
  for (std::size_t k = 0; k < n.size(); ++k) {
    const std::int64_t computed = k == 2 && !along_channels_ ? std::max(c_.extent[k], lanes) : c_.extent[k];
    n[k] = (computed - 1) * c_.stride[k] + c_.taps[k].furthest() + 1;
  }
  return n;
}

// ---- all of it ------------------------------------------------------------------------------

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
  PaddedImages images(body, dtype, c_.in, c_.source, c_.before, needed());
  image_ = images.extent();
  IrValue filters = along_channels_ ? transposed_filters() : filter_;
  const std::int64_t filters_of_group =
      along_channels_ ? c_.in * c_.window_size() * padded_out_ : c_.out * c_.in * c_.window_size();
  const std::int64_t products = c_.groups * c_.out * c_.in * c_.window_size() * volume(c_.extent);
  body.parallel(c_.batch, static_cast<double>(products) * body.nanoseconds_of_product(dtype),
                [&](const Body::Rounds& some) {
                  images.prepare();
                  begin();
                  body.loop(some, body.constant(c_.batch), [&](IrValue n) {
                    body.loop(c_.groups, [&](IrValue g) {
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

// Where a row of outputs begins in the result's group of channels.
IrValue CorrelationCode::result_place(IrValue channel, IrValue row) {
  IrValue i = ir.CreateUDiv(row, body.constant(c_.extent[1])), j = ir.CreateURem(row, body.constant(c_.extent[1]));
  IrValue plane = plus(plus(times(channel, c_.result[0]), times(i, c_.step[0])), c_.first[0]);
  IrValue line = plus(plus(times(plane, c_.result[1]), times(j, c_.step[1])), c_.first[1]);
  return plus(times(line, c_.result[2]), c_.first[2]);
}

// Where the source of a row's first output begins.
IrValue CorrelationCode::source_row(IrValue row) {
  IrValue i = ir.CreateUDiv(row, body.constant(c_.extent[1])), j = ir.CreateURem(row, body.constant(c_.extent[1]));
  return times(plus(times(times(i, c_.stride[0]), image_[1]), times(j, c_.stride[1])), image_[2]);
}

CorrelationCode::Sums CorrelationCode::sums(llvm::Type* type, std::int64_t count) {
  Sums all;
  for (std::int64_t k = 0; k < count; ++k) {
    all.push_back(body.variable(type, "sum"));
    ir.CreateStore(llvm::Constant::getNullValue(type), all.back());
  }
  return all;
}

// For every channel and tap its offset in the image and in the filter.
void CorrelationCode::each_tap(const std::function<void(IrValue, IrValue)>& f, std::int64_t source_channel,
                               std::int64_t filter_channel, std::int64_t filter_tap) {
  const auto& t = c_.taps;
  body.loop(c_.in, [&](IrValue channel) {
    body.loop(t[0].count, [&](IrValue a) {
      body.loop(t[1].count, [&](IrValue b) {
        IrValue plane = plus(times(a, t[0].source_step), t[0].source);
        IrValue line = plus(plus(times(plane, image_[1]), times(b, t[1].source_step)), t[1].source);
        IrValue from = plus(plus(times(channel, source_channel), times(line, image_[2])), t[2].source);
        IrValue tap = plus(times(a, t[0].filter_step * c_.window[1]), t[0].filter * c_.window[1] + t[1].filter);
        tap = plus(times(plus(tap, times(b, t[1].filter_step)), c_.window[2]), t[2].filter);
        IrValue weight = plus(times(channel, filter_channel), times(tap, filter_tap));
        const auto one = [&](IrValue k) {
          f(plus(from, times(k, t[2].source_step)), plus(weight, times(k, t[2].filter_step * filter_tap)));
        };
        if (t[2].count > most_unrolled) return body.loop(t[2].count, one);
        for (std::int64_t k = 0; k < t[2].count; ++k) one(body.constant(k));
      });
    });
  });
}

// ---- vectors along columns ------------------------------------------------------------------

void CorrelationCode::columns(IrValue image, IrValue filter, IrValue to) {
  const std::int64_t rows = c_.extent[0] * c_.extent[1];
  // Rows of one tile lie in one plane, evenly apart.
  const std::int64_t tile_rows = c_.extent[1] % tile_rows_ == 0 || c_.extent[0] == 1 ? tile_rows_ : 1;
  const auto of_channels = [&](IrValue channel, std::int64_t height) {
    const auto of_rows = [&](IrValue row, std::int64_t count) {
      blocks(c_.extent[2], width_,
             [&](IrValue column) { column_tile(image, filter, to, channel, row, column, height, count); });
    };
    body.loop(rows / tile_rows, [&](IrValue i) { of_rows(times(i, tile_rows), tile_rows); });
    if (rows % tile_rows != 0) of_rows(body.constant(rows / tile_rows * tile_rows), rows % tile_rows);
  };
  body.loop(c_.out / height_, [&](IrValue i) { of_channels(times(i, height_), height_); });
  if (c_.out % height_ != 0) of_channels(body.constant(c_.out / height_ * height_), c_.out % height_);
}

// Where vector k of a tile begins.
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

// [group, channel in, tap, channel out], zeros where there is no channel.
IrValue CorrelationCode::transposed_filters() {
  const std::int64_t taps = c_.window_size(), whole = c_.in * taps;
  IrValue to = buffer(c_.groups * whole * padded_out_, "filters");
  if (padded_out_ != c_.out) clear(to, c_.groups * whole * padded_out_);
  body.loop(c_.groups, [&](IrValue g) {
    IrValue from = place(filter_, times(g, c_.out * whole)), into = place(to, times(g, whole * padded_out_));
    if (c_.filter_in == taps) return transpose(into, padded_out_, from, c_.filter_out, c_.out, whole);
    body.loop(c_.in, [&](IrValue c) {
      transpose(place(into, times(c, taps * padded_out_)), padded_out_, place(from, times(c, c_.filter_in)),
                c_.filter_out, c_.out, taps);
    });
  });
  return to;
}

void CorrelationCode::channels(IrValue image, IrValue filter, IrValue to) {
  const std::int64_t pair = vectors_ * lanes, extent = c_.extent[2];
  IrValue row_of_sums = buffer(extent * padded_out_, "row");
  body.loop(c_.extent[0] * c_.extent[1], [&](IrValue row) {
    const auto of_vectors = [&](IrValue channel, std::int64_t vectors) {
      blocks(extent, width_,
             [&](IrValue column) { channel_tile(image, filter, row_of_sums, row, column, channel, vectors); });
    };
    body.loop(padded_out_ / pair, [&](IrValue i) { of_vectors(times(i, pair), vectors_); });
    if (padded_out_ % pair != 0) of_vectors(body.constant(padded_out_ - lanes), 1);
    if (c_.step[2] == 1)
      return transpose(place(to, result_place(body.constant(0), row)), volume(c_.result), row_of_sums, padded_out_,
                       extent, c_.out);
    body.loop(c_.out, [&](IrValue o) {
      IrValue line = place(to, result_place(o, row));
      body.loop(extent, [&](IrValue p) {
        ir.CreateAlignedStore(load_scalar(place(row_of_sums, plus(times(p, padded_out_), o))),
                              place(line, times(p, c_.step[2])), align);
      });
    });
  });
}

// Sums of some columns of a row, stored as [column, channel].
void CorrelationCode::channel_tile(IrValue image, IrValue filter, IrValue to, IrValue row, IrValue column,
                                   IrValue channel, std::int64_t vectors) {
  llvm::Type* type = vector(lanes);
  const Sums sum = sums(type, width_ * vectors);
  IrValue begin = place(image, plus(source_row(row), times(column, c_.stride[2])));
  IrValue weights = place(filter, channel);
  each_tap(
      [&](IrValue from, IrValue weight) {
        std::vector<IrValue> w;
        for (std::int64_t k = 0; k < vectors; ++k)
          w.push_back(load_vector(place(weights, plus(weight, k * lanes)), lanes));
        for (std::int64_t p = 0; p < width_; ++p) {
          IrValue x = splat(load_scalar(place(begin, plus(from, p * c_.stride[2]))), lanes);
          for (std::int64_t k = 0; k < vectors; ++k) {
            auto* s = sum[static_cast<std::size_t>(p * vectors + k)];
            ir.CreateStore(fused(x, w[static_cast<std::size_t>(k)], ir.CreateLoad(type, s)), s);
          }
        }
      },
      volume(image_), c_.window_size() * padded_out_, padded_out_);
  for (std::int64_t p = 0; p < width_; ++p)
    for (std::int64_t k = 0; k < vectors; ++k) {
      IrValue at = plus(plus(times(plus(column, p), padded_out_), channel), k * lanes);
      store_vector(ir.CreateLoad(type, sum[static_cast<std::size_t>(p * vectors + k)]), place(to, at));
    }
}

}  // namespace rml::codegen
