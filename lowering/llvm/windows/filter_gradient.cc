// Emits the gradient of a convolution in its filter (filter_gradient.h).
#include <algorithm>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/windows/filter_gradient.h"

namespace rml::codegen {

FilterGradientCode::FilterGradientCode(Function& in, DType d, const Convolution& c, IrValue x, IrValue g,
                                       IrValue result)
    : WindowCode(in, d),
      c_(c),
      x_(x),
      g_(g),
      result_(result),
      in_(triple(c.windows, &window::Axis::in)),
      out_(triple(c.windows, &window::Axis::out)),
      size_(triple(c.windows, &window::Axis::size)) {
  padded_out_ = blocks_of(c.out, lanes) * lanes;
  pitch_ = blocks_of(out_[2], lanes) * lanes;
  const double of_columns = static_cast<double>(out_[2]) / static_cast<double>(pitch_);
  const double of_channels = static_cast<double>(c.out) / static_cast<double>(padded_out_);
  along_channels_ = c.windows.axis[2].stride != 1 || target.costs.channels * of_channels > of_columns;
  taps_in_tile_ = size_[2] >= target.filter_taps || size_[2] >= c.in;
  height_ = std::min<std::int64_t>(2, along_channels_ ? padded_out_ / lanes : c.out);
}

Triple FilterGradientCode::needed() const {
  Triple n{};
  for (std::size_t k = 0; k < n.size(); ++k) {
    const window::Axis& a = c_.windows.axis[k];
    const std::int64_t read = k == 2 && !along_channels_ ? pitch_ : a.out;
    n[k] = (read - 1) * a.stride + a.reach();
  }
  return n;
}

// Every image adds to all sums, so threads share the sums, and each has its own copies of the images.
void FilterGradientCode::emit() {
  const std::int64_t pairs = c_.in * c_.windows.taps();
  const std::int64_t sums_of_group = along_channels_ ? pairs * padded_out_ : pairs * c_.out * lanes;
  IrValue sums = buffer(c_.groups * sums_of_group, "sums");
  clear(sums, c_.groups * sums_of_group);
  const std::int64_t rows = (taps_in_tile_ ? c_.in : size_[2]) * size_[0] * size_[1];
  const double products = static_cast<double>(c_.batch * c_.groups * c_.out * pairs * volume(out_));
  parallel(f, rows, products * nanoseconds_of_product(f, dtype) / static_cast<double>(rows), [&](const Rounds& some) {
    rows_ = some;
    add_images(sums, sums_of_group);
  });
  f.loop(c_.groups, [&](IrValue k) {
    IrValue to = place(result_, times(k, c_.out * pairs)), from = place(sums, times(k, sums_of_group));
    if (along_channels_) return transpose(to, pairs, from, padded_out_, pairs, c_.out);
    f.loop(c_.out * pairs, [&](IrValue i) {
      IrValue lanes_of_sum = load_vector(place(from, times(i, lanes)), lanes);
      auto* sum = ir.CreateFAddReduce(llvm::ConstantFP::getNegativeZero(scalar_type), lanes_of_sum);
      llvm::FastMathFlags any_order;
      any_order.setAllowReassoc();
      sum->setFastMathFlags(any_order);
      ir.CreateAlignedStore(sum, place(to, i), align);
    });
  });
}

void FilterGradientCode::add_images(IrValue sums, std::int64_t sums_of_group) {
  PaddedImages images(f, dtype, c_.in, in_, triple(c_.windows, &window::Axis::begin), needed());
  images.prepare();
  image_ = images.extent();
  if (along_channels_ || pitch_ != out_[2]) {
    const std::int64_t count = along_channels_ ? volume(out_) * padded_out_ : c_.out * out_[0] * out_[1] * pitch_;
    copy_ = buffer(count, "adjoint");
    clear(copy_, count);
  }
  f.loop(c_.batch, [&](IrValue n) {
    f.loop(c_.groups, [&](IrValue k) {
      IrValue group = plus(times(n, c_.groups), k);
      IrValue source = images.image(place(x_, times(group, c_.in * volume(in_))));
      IrValue g = adjoint(place(g_, times(group, c_.out * volume(out_))));
      image(source, g, place(sums, times(k, sums_of_group)));
    });
  });
}

// Copies one image and group of g in the layout for tiles.
IrValue FilterGradientCode::adjoint(IrValue elements) {
  if (copy_ == nullptr) return elements;
  if (along_channels_) {
    transpose(copy_, padded_out_, elements, volume(out_), c_.out, volume(out_));
  } else {
    f.loop(c_.out * out_[0] * out_[1],
           [&](IrValue row) { copy(place(copy_, times(row, pitch_)), place(elements, times(row, out_[2])), out_[2]); });
  }
  return copy_;
}

void FilterGradientCode::image(IrValue source, IrValue g, IrValue sums) {
  const std::int64_t taps = c_.windows.taps(), sum = along_channels_ ? padded_out_ : lanes;
  const auto& axes = c_.windows.axis;
  each_output([&](IrValue out, std::int64_t height) {
    IrValue g_out = place(g, times(out, along_channels_ ? 1 : out_[0] * out_[1] * pitch_));
    IrValue sums_out = place(sums, times(out, along_channels_ ? 1 : c_.in * taps * lanes));
    each_input(most_sums / height, [&](IrValue from, IrValue pair, std::int64_t count) {
      Tile t{};
      t.g_count = height;
      t.g_step = along_channels_ ? lanes : out_[0] * out_[1] * pitch_;
      t.g_sum_step = along_channels_ ? lanes : c_.in * taps * lanes;
      t.source_count = count;
      t.source_step = taps_in_tile_ ? axes[2].dilation : volume(image_);
      t.source_sum_step = (taps_in_tile_ ? 1 : taps) * sum;
      tile(place(source, from), g_out, place(sums_out, times(pair, sum)), t);
    });
  });
}

void FilterGradientCode::each_output(const std::function<void(IrValue, std::int64_t)>& visit) {
  const std::int64_t unit = along_channels_ ? lanes : 1, count = along_channels_ ? padded_out_ / lanes : c_.out;
  f.loop(count / height_, [&](IrValue i) { visit(times(i, height_ * unit), height_); });
  if (count % height_ != 0) visit(f.constant(count / height_ * height_ * unit), count % height_);
}

// A row: the taps along the last axis of one channel, or the channels of one tap.
void FilterGradientCode::each_row(const std::function<void(IrValue, IrValue, IrValue)>& visit) {
  const std::int64_t others = taps_in_tile_ ? c_.in : size_[2], of_other = size_[0] * size_[1];
  if (rows_.begin == nullptr) {
    return f.loop(others, [&](IrValue other) {
      f.loop(size_[0], [&](IrValue a) { f.loop(size_[1], [&](IrValue b) { visit(other, a, b); }); });
    });
  }
  f.loop(rows_, f.constant(others * of_other), [&](IrValue row) {
    IrValue tap = ir.CreateURem(row, f.constant(of_other));
    visit(ir.CreateUDiv(row, f.constant(of_other)), ir.CreateUDiv(tap, f.constant(size_[1])),
          ir.CreateURem(tap, f.constant(size_[1])));
  });
}

void FilterGradientCode::each_input(std::int64_t most,
                                    const std::function<void(IrValue, IrValue, std::int64_t)>& visit) {
  const auto& axes = c_.windows.axis;
  const std::int64_t along = taps_in_tile_ ? size_[2] : c_.in;
  const std::int64_t parts = blocks_of(along, most), part = blocks_of(along, parts);
  each_row([&](IrValue other, IrValue a, IrValue b) {
    IrValue line = plus(times(times(a, axes[0].dilation), image_[1]), times(b, axes[1].dilation));
    IrValue row_tap = times(plus(times(a, size_[1]), b), size_[2]);
    const auto at = [&](IrValue begin, std::int64_t count) {
      IrValue channel = taps_in_tile_ ? other : begin, tap = taps_in_tile_ ? begin : other;
      IrValue from = plus(plus(times(channel, volume(image_)), times(line, image_[2])), times(tap, axes[2].dilation));
      visit(from, plus(plus(times(channel, c_.windows.taps()), row_tap), tap), count);
    };
    f.loop(along / part, [&](IrValue i) { at(times(i, part), part); });
    if (along % part != 0) at(f.constant(along / part * part), along % part);
  });
}

void FilterGradientCode::tile(IrValue source, IrValue g, IrValue sums, const Tile& t) {
  llvm::Type* type = vector(lanes);
  const auto& axes = c_.windows.axis;
  std::vector<llvm::AllocaInst*> sum;
  const auto each_sum = [&](const std::function<void(llvm::AllocaInst*, IrValue)>& visit) {
    for (std::int64_t a = 0; a < t.g_count; ++a)
      for (std::int64_t b = 0; b < t.source_count; ++b)
        visit(sum[static_cast<std::size_t>(a * t.source_count + b)],
              place(sums, a * t.g_sum_step + b * t.source_sum_step));
  };
  for (std::int64_t k = 0; k < t.g_count * t.source_count; ++k) sum.push_back(f.variable(type, "sum"));
  each_sum([&](llvm::AllocaInst* s, IrValue at) { ir.CreateStore(load_vector(at, lanes), s); });
  f.loop(out_[0], [&](IrValue i) {
    f.loop(out_[1], [&](IrValue j) {
      IrValue row = plus(times(i, out_[1]), j);
      IrValue line = plus(times(times(i, axes[0].stride), image_[1]), times(j, axes[1].stride));
      IrValue from = place(source, times(line, image_[2]));
      f.loop(along_channels_ ? out_[2] : pitch_ / lanes, [&](IrValue p) {
        IrValue at = along_channels_ ? times(plus(times(row, out_[2]), p), padded_out_)
                                     : plus(times(row, pitch_), times(p, lanes));
        IrValue x_at = times(p, along_channels_ ? axes[2].stride : lanes);
        std::vector<IrValue> gs;
        for (std::int64_t a = 0; a < t.g_count; ++a) gs.push_back(load_vector(place(g, plus(at, a * t.g_step)), lanes));
        for (std::int64_t b = 0; b < t.source_count; ++b) {
          IrValue where = place(from, plus(x_at, b * t.source_step));
          IrValue x = along_channels_ ? splat(load_scalar(where), lanes) : load_vector(where, lanes);
          for (std::int64_t a = 0; a < t.g_count; ++a) {
            auto* s = sum[static_cast<std::size_t>(a * t.source_count + b)];
            ir.CreateStore(fused(x, gs[static_cast<std::size_t>(a)], ir.CreateLoad(type, s)), s);
          }
        }
      });
    });
  });
  each_sum([&](llvm::AllocaInst* s, IrValue at) { store_vector(ir.CreateLoad(type, s), at); });
}

}  // namespace rml::codegen
