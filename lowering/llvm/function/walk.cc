// Emits loop nests, and chooses the axis that threads share.
#include "lowering/llvm/function/walk.h"

#include <algorithm>
#include <span>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

Nest nest(const Shape& shape, const std::vector<Strides>& views) {
  Nest all{{}, std::vector<Strides>(views.size())};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool even = !all.extents.empty();
    for (std::size_t k = 0; k < views.size() && even; ++k) even = all.strides[k].back() == views[k][axis] * shape[axis];
    if (even)
      all.extents.back() *= shape[axis];
    else
      all.extents.push_back(shape[axis]);
    for (std::size_t k = 0; k < views.size(); ++k) {
      if (even)
        all.strides[k].back() = views[k][axis];
      else
        all.strides[k].push_back(views[k][axis]);
    }
  }
  return all;
}

namespace {

// True if the order of a sum could depend on how the rounds of `axis` are split. That happens with --fast-math, where
// LLVM may reorder: it may fully unroll the loops inside of a sum, or the sum itself, and add in an order that depends
// on the number of rounds, if it is known. In a piece it is not.
bool order_hangs_on(std::size_t axis, const Shape& extents, const Strides& written, std::int64_t unrolled_by_llvm) {
  for (std::size_t summed = 0; summed < extents.size(); ++summed) {
    if (written[summed] != 0) continue;
    std::int64_t inside = 1;
    for (std::size_t k = std::min(summed, axis) + 1; k < extents.size(); ++k) inside *= extents[k];
    if (inside < unrolled_by_llvm) return true;
  }
  return false;
}

// The axis of a walk that threads share: each of its rounds writes to separate places. SIZE_MAX: none is worthwhile.
std::size_t split_axis(const Function& f, const Shape& extents, const std::vector<Strides>& views, const Work& work) {
  double count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
  if (count < work.least || work.written == 0) return SIZE_MAX;
  const auto written = std::span(views).first(work.written);
  const double all = work.nanoseconds * count;
  const std::int64_t enough = f.module.target.pieces_of_thread * std::int64_t{f.module.target.threads};
  std::size_t best = SIZE_MAX;
  std::int64_t most = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (std::ranges::any_of(written, [&](const Strides& view) { return view[axis] == 0; })) continue;
    const auto hangs = [&](const Strides& view) {
      return order_hangs_on(axis, extents, view, f.module.target.unrolled_by_llvm);
    };
    if (f.module.numeric.fast && std::ranges::any_of(written, hangs)) continue;
    const bool innermost = axis + 1 == extents.size();
    const std::int64_t rounds = innermost ? extents[axis] / work.together : extents[axis];
    if (std::min(rounds, enough) <= most || !splits(f, rounds, all / static_cast<double>(rounds))) continue;
    best = axis, most = std::min(rounds, enough);
  }
  return best;
}

}  // namespace

// Merges axes along which all views advance evenly, so that operands of one shape, or of one shape and a scalar, are
// one loop.
void walk(Function& f, const Shape& shape, const std::vector<Strides>& views, bool unrolled, const Visit& visit) {
  walk(f, shape, views, unrolled, {}, visit);
}

void walk(Function& f, const Shape& shape, const std::vector<Strides>& views, bool unrolled, Work work,
          const Visit& visit) {
  walk(f, nest(shape, views), unrolled, work, visit);
}

void walk(Function& f, const Nest& all, bool unrolled, Work work, const Visit& visit) {
  auto& ir = f.ir;
  const Shape& extents = all.extents;
  const std::vector<Strides>& merged = all.strides;
  if (std::ranges::find(extents, 0) != extents.end()) return;
  std::size_t split = unrolled ? SIZE_MAX : split_axis(f, extents, merged, work);
  Rounds rounds;
  std::function<void(std::size_t, const std::vector<IrValue>&)> level = [&](std::size_t depth,
                                                                            const std::vector<IrValue>& offsets) {
    if (depth == extents.size()) return visit(offsets);
    const auto inside = [&](IrValue i) {
      std::vector<IrValue> inner = offsets;
      for (std::size_t k = 0; k < merged.size(); ++k) {
        const std::int64_t stride = merged[k][depth];
        if (stride == 0) continue;
        IrValue step = stride == 1 ? i : ir.CreateMul(i, f.constant(stride), "", true, true);
        auto* outer = llvm::dyn_cast<llvm::ConstantInt>(offsets[k]);
        inner[k] = outer != nullptr && outer->isZero() ? step : ir.CreateAdd(offsets[k], step, "", true, true);
      }
      level(depth + 1, inner);
    };
    if (unrolled) {
      for (std::int64_t i = 0; i < extents[depth]; ++i) inside(f.constant(i));
    } else {
      f.loop(depth == split ? rounds : Rounds{}, f.constant(extents[depth]), inside);
    }
  };
  const std::vector<IrValue> begin(merged.size(), f.constant(0));
  if (split == SIZE_MAX) return level(0, begin);
  double each = work.nanoseconds;
  for (const std::int64_t extent : extents) each *= static_cast<double>(extent);
  const std::int64_t unit = split + 1 == extents.size() ? work.together : 1;
  const std::int64_t count = (extents[split] + unit - 1) / unit;
  parallel(f, count, each / static_cast<double>(count), [&](const Rounds& some) {
    rounds = {strided(f, f.constant(0), some.begin, unit), strided(f, f.constant(0), some.end, unit)};
    level(0, begin);
  });
}

}  // namespace rml::codegen
