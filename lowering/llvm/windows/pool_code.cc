// Emits the vectors of a pool: its outputs, and the elements that each tap of the window covers.
#include "lowering/llvm/windows/pool_code.h"

#include <algorithm>
#include <limits>

#include "lowering/llvm/function/parallel.h"

namespace rml::codegen {

namespace {

std::int64_t width_of(std::int64_t extent, std::int64_t lanes) {
  std::int64_t width = lanes;
  while (width > extent) width /= 2;
  return std::max<std::int64_t>(width, 1);
}

Triple needed(const window::Windows& w) {
  Triple n{};
  for (std::size_t k = 0; k < n.size(); ++k) {
    const window::Axis& a = w.axis[k];
    n[k] = (a.out - 1) * a.stride + a.reach();
  }
  // The last vectors read up to the place where a further window would begin.
  const window::Axis& last = w.axis[2];
  n[2] = last.out * last.stride + (last.reach() - 1) / last.stride * last.stride;
  return n;
}

}  // namespace

PoolCode::PoolCode(Function& in, DType d, const window::Windows& w, Kind kind, std::int64_t divisor)
    : WindowCode(in, d),
      w_(w),
      kind_(kind),
      divisor_(divisor),
      width_(width_of(w.axis[2].out, lanes)),
      images_(in, d, 1, triple(w, &window::Axis::in), triple(w, &window::Axis::begin), needed(w)),
      in_(triple(w, &window::Axis::in)),
      out_(triple(w, &window::Axis::out)),
      size_(triple(w, &window::Axis::size)) {}

bool PoolCode::side_by_side(const window::Windows& w) {
  return std::ranges::all_of(
      w.axis, [](const window::Axis& a) { return a.begin == 0 && a.reach() <= a.stride && a.out * a.stride <= a.in; });
}

void PoolCode::prepare() { images_.prepare(kind_ == Kind::maximum ? -std::numeric_limits<double>::infinity() : 0); }

void PoolCode::each_block(const std::function<void(IrValue, IrValue, IrValue)>& visit, const Triple& image) {
  f.loop(out_[0], [&](IrValue i) {
    f.loop(out_[1], [&](IrValue j) {
      IrValue row = times(plus(times(times(i, w_.axis[0].stride), image[1]), times(j, w_.axis[1].stride)), image[2]);
      IrValue line = times(plus(times(i, out_[1]), j), out_[2]);
      blocks(out_[2], width_,
             [&](IrValue column) { visit(row, times(column, w_.axis[2].stride), plus(line, column)); });
    });
  });
}

// Loads vectors of width_ elements whose distance is the stride: one vector for each place within the stride.
PoolCode::Vectors PoolCode::apart(IrValue address) {
  const std::int64_t stride = w_.axis[2].stride;
  IrValue together = load_vector(address, stride * width_);
  Vectors result;
  for (std::int64_t s = 0; s < stride; ++s) {
    std::vector<int> lanes_of;
    for (std::int64_t k = 0; k < width_; ++k) lanes_of.push_back(static_cast<int>(k * stride + s));
    result.push_back(ir.CreateShuffleVector(together, lanes_of));
  }
  return result;
}

PoolCode::Vectors PoolCode::taps(IrValue plane, IrValue row, IrValue column, const Triple& image) {
  Vectors all;
  const window::Axis& last = w_.axis[2];
  for (std::int64_t a = 0; a < size_[0]; ++a)
    for (std::int64_t b = 0; b < size_[1]; ++b) {
      const std::int64_t line = ((a * w_.axis[0].dilation) * image[1] + b * w_.axis[1].dilation) * image[2];
      std::vector<Vectors> loaded(static_cast<std::size_t>((last.reach() - 1) / last.stride + 1));
      for (std::int64_t k = 0; k < size_[2]; ++k) {
        const std::int64_t at = k * last.dilation;
        Vectors& part = loaded[static_cast<std::size_t>(at / last.stride)];
        if (part.empty()) part = apart(place(plane, plus(plus(row, column), line + at / last.stride * last.stride)));
        all.push_back(part[static_cast<std::size_t>(at % last.stride)]);
      }
    }
  return all;
}

// The first part of a sum. It is added to 0, as in the kernels, so that the result is never -0.
IrValue PoolCode::begun(IrValue part) { return ir.CreateFAdd(part, llvm::Constant::getNullValue(part->getType())); }

// The largest tap, or NaN if there is one; for averages the sum.
IrValue PoolCode::reduced(const Vectors& taps) {
  IrValue result = kind_ == Kind::maximum ? taps[0] : begun(taps[0]), unordered = nullptr;
  for (std::size_t k = 1; k < taps.size(); ++k)
    result = kind_ == Kind::maximum ? ir.CreateSelect(ir.CreateFCmpOGT(taps[k], result), taps[k], result)
                                    : ir.CreateFAdd(result, taps[k]);
  if (kind_ == Kind::average)
    return ir.CreateFDiv(result, llvm::ConstantFP::get(result->getType(), static_cast<double>(divisor_)));
  if (kind_ == Kind::sum) return result;
  for (std::size_t k = 0; k < taps.size(); k += 2) {
    IrValue pair = ir.CreateFCmpUNO(taps[k], taps[std::min(k + 1, taps.size() - 1)]);
    unordered = unordered == nullptr ? pair : ir.CreateOr(unordered, pair);
  }
  return ir.CreateSelect(unordered, llvm::ConstantFP::getNaN(result->getType()), result);
}

double PoolCode::nanoseconds_of_plane() const {
  return static_cast<double>(volume(in_)) * static_cast<double>(byte_size(dtype)) * f.module.target.costs.pooling *
         f.module.target.costs.byte;
}

void PoolCode::planes(IrValue from, IrValue to, const Rounds& some, std::int64_t n) {
  const Triple& image = images_.extent();
  f.loop(some, f.constant(n), [&](IrValue channel) {
    IrValue plane = images_.image(place(from, times(channel, volume(in_))));
    IrValue out = place(to, times(channel, volume(out_)));
    each_block([&](IrValue row, IrValue column,
                   IrValue output) { store_vector(reduced(taps(plane, row, column, image)), place(out, output)); },
               image);
  });
}

void PoolCode::store_apart(const Vectors& parts, IrValue address) {
  IrValue together = parts[0];
  const auto stride = static_cast<std::int64_t>(parts.size());
  if (stride > 1) {
    // Shuffles elements so that those that will be adjacent are next to each other.
    for (std::int64_t s = 1; s < stride; ++s) {
      std::vector<int> both;
      for (std::int64_t k = 0; k < (s + 1) * width_; ++k) both.push_back(static_cast<int>(k));
      std::vector<int> wide;
      for (std::int64_t k = 0; k < s * width_; ++k) wide.push_back(k < width_ ? static_cast<int>(k) : -1);
      IrValue next = ir.CreateShuffleVector(parts[static_cast<std::size_t>(s)], wide);
      together = ir.CreateShuffleVector(together, next, both);
    }
    std::vector<int> order;
    for (std::int64_t k = 0; k < width_; ++k)
      for (std::int64_t s = 0; s < stride; ++s) order.push_back(static_cast<int>(s * width_ + k));
    together = ir.CreateShuffleVector(together, order);
  }
  store_vector(together, address);
}

void PoolCode::adjoint_planes(IrValue x, IrValue g, IrValue to, std::int64_t n) {
  const window::Axis& last = w_.axis[2];
  const std::int64_t stride = last.stride;
  auto* zero = llvm::Constant::getNullValue(vector(width_));
  bool covered = true;
  for (const window::Axis& a : w_.axis) covered = covered && a.size == a.stride && a.out * a.stride == a.in;
  if (!covered) clear(to, n * volume(in_));
  const auto plane = [&](IrValue channel) {
    IrValue from = x == nullptr ? nullptr : place(x, times(channel, volume(in_)));
    IrValue into = place(to, times(channel, volume(in_))), out = place(g, times(channel, volume(out_)));
    each_block(
        [&](IrValue row, IrValue column, IrValue output) {
          IrValue part = load_vector(place(out, output), width_);
          if (kind_ == Kind::average)
            part = ir.CreateFDiv(part, llvm::ConstantFP::get(part->getType(), static_cast<double>(divisor_)));
          part = begun(part);
          const Vectors seen = from == nullptr ? Vectors{} : taps(from, row, column, in_);
          IrValue largest = from == nullptr ? nullptr : reduced(seen);
          IrValue found = nullptr;
          std::size_t tap = 0;
          for (std::int64_t a = 0; a < size_[0]; ++a)
            for (std::int64_t b = 0; b < size_[1]; ++b) {
              Vectors parts(static_cast<std::size_t>(stride), zero);
              for (std::int64_t k = 0; k < size_[2]; ++k, ++tap) {
                IrValue value = part;
                if (largest != nullptr) {
                  IrValue here =
                      ir.CreateOr(ir.CreateFCmpOEQ(seen[tap], largest), ir.CreateFCmpUNO(seen[tap], seen[tap]));
                  IrValue first = found == nullptr ? here : ir.CreateAnd(here, ir.CreateNot(found));
                  found = found == nullptr ? here : ir.CreateOr(found, here);
                  value = ir.CreateSelect(first, part, zero);
                }
                parts[static_cast<std::size_t>(k * last.dilation)] = value;
              }
              const std::int64_t line = ((a * w_.axis[0].dilation) * in_[1] + b * w_.axis[1].dilation) * in_[2];
              store_apart(parts, place(into, plus(plus(row, column), line)));
            }
        },
        in_);
  };
  parallel(f, n, 2 * nanoseconds_of_plane(), [&](const Rounds& some) { f.loop(some, f.constant(n), plane); });
}

}  // namespace rml::codegen
