// Inner products of the rows of a matrix with a vector, where the inner index is contiguous.
//
// Vectors run along k, so a sum is spread over the lanes of a register and folded at the end. As many rows as there are
// lanes are folded together, by a butterfly, into one vector of sums:
//
//   s[8 rows] = 0;  for k in steps of 8: s[r] += a[r, k..] * b[k..];  c[8 rows] = folded s
//
// The last block of rows begins earlier and overlaps the previous one. The sums of the overlap are not handed out
// again, because a sink may overwrite its operands.
#include "lowering/llvm/products/dots.h"

#include <algorithm>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/scalars/arithmetic.h"

namespace rml::codegen {

namespace {

// Sums the lanes of each vector. The result is a scalar for one vector, and a vector for as many as there are lanes. In
// every round, lanes that are `distance` apart are added, and two vectors that far apart become one.
IrValue fold(Function& f, DType dtype, std::vector<IrValue> vectors) {
  auto& ir = f.ir;
  const auto lane_count = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements());
  const bool one = vectors.size() == 1;
  for (int distance = lane_count / 2; distance > 0; distance /= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lane_count; ++lane) {
      const bool second = (lane & distance) != 0;
      const int from = (second && !one ? lane_count : 0) + (lane & ~distance);
      low.push_back(from);
      high.push_back(from + distance);
    }
    for (std::size_t i = 0; i < (one ? 1 : static_cast<std::size_t>(distance)); ++i) {
      IrValue x = vectors[i], y = one ? x : vectors[i + static_cast<std::size_t>(distance)];
      vectors[i] = add(f, dtype, ir.CreateShuffleVector(x, y, low), ir.CreateShuffleVector(x, y, high));
    }
  }
  return one ? ir.CreateExtractElement(vectors[0], std::uint64_t{0}) : vectors[0];
}

// `rows` inner products, 1 or as many as a vector has lanes, as a scalar or a vector.
IrValue dots_of(Function& f, const Product& p, IrValue row, std::int64_t rows) {
  auto& ir = f.ir;
  auto* scalar_type = register_type(f.module.context, p.dtype);
  const llvm::Align align(byte_size(p.dtype));
  const std::int64_t lane_count = f.lanes(p.dtype);
  const auto vector = [&](std::int64_t n) { return llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(n)); };
  const auto at_a = [&](std::int64_t r, IrValue k) {
    IrValue at = strided(f, f.constant(0), ir.CreateAdd(row, f.constant(r), "", true, true), p.a_row);
    return f.offset(p.dtype, p.a, ir.CreateAdd(at, k, "", true, true));
  };
  // A single row has several partial sums, to hide the latency of an addition.
  const std::int64_t ways = rows > 1 ? 1 : std::clamp<std::int64_t>(p.inner / lane_count, 1, f.module.numeric.chains);
  const std::int64_t step = ways * lane_count;
  std::vector<llvm::AllocaInst*> sums;
  for (std::int64_t r = 0; r < rows * ways; ++r) {
    sums.push_back(f.variable(vector(lane_count), "sum"));
    ir.CreateStore(no_terms(p.dtype, vector(lane_count)), sums.back());
  }
  // A piece of `width` elements from k on. If it is narrower than a vector, it fills the first lanes.
  const auto widened = [&](IrValue address, std::int64_t width) -> IrValue {
    IrValue piece = width == 1
                        ? ir.CreateInsertElement(llvm::Constant::getNullValue(vector(lane_count)),
                                                 ir.CreateAlignedLoad(scalar_type, address, align), std::uint64_t{0})
                        : static_cast<IrValue>(ir.CreateAlignedLoad(vector(width), address, align));
    if (width == 1 || width == lane_count) return piece;
    std::vector<int> places;
    for (std::int64_t k = 0; k < lane_count; ++k) places.push_back(static_cast<int>(std::min(k, width)));
    return ir.CreateShuffleVector(piece, llvm::Constant::getNullValue(vector(width)), places);
  };
  const auto accumulate = [&](IrValue k, std::int64_t width, std::int64_t way) {
    IrValue b = widened(f.offset(p.dtype, p.b, k), width);
    for (std::int64_t r = 0; r < rows; ++r) {
      auto* sum = sums[static_cast<std::size_t>(r * ways + way)];
      ir.CreateStore(multiply_add(f, p.dtype, widened(at_a(r, k), width), b, ir.CreateLoad(vector(lane_count), sum)),
                     sum);
    }
  };
  f.loop(p.inner / step, [&](IrValue i) {
    for (std::int64_t way = 0; way < ways; ++way)
      accumulate(ir.CreateAdd(ir.CreateMul(i, f.constant(step), "", true, true), f.constant(way * lane_count)),
                 lane_count, way);
  });
  std::int64_t done = p.inner / step * step;
  for (std::int64_t width = lane_count; width > 0; width /= 2)
    for (; done + width <= p.inner; done += width) accumulate(f.constant(done), width, 0);

  std::vector<IrValue> all;
  for (std::int64_t r = 0; r < rows; ++r) {
    IrValue sum = ir.CreateLoad(vector(lane_count), sums[static_cast<std::size_t>(r * ways)]);
    for (std::int64_t way = 1; way < ways; ++way)
      sum = add(f, p.dtype, sum, ir.CreateLoad(vector(lane_count), sums[static_cast<std::size_t>(r * ways + way)]));
    all.push_back(sum);
  }
  return fold(f, p.dtype, std::move(all));
}

}  // namespace

void emit_dots(Function& f, const Product& p, const Sink& sink) {
  auto& ir = f.ir;
  const std::int64_t lane_count = f.lanes(p.dtype);
  if (p.m < lane_count) {
    for (std::int64_t r = 0; r < p.m; ++r)
      sink(spot(f, p, f.constant(r), f.constant(0)), dots_of(f, p, f.constant(r), 1), 1);
    return;
  }
  // This number of sums in flight hides the latency of an addition.
  const std::int64_t under_way = f.module.target.sums_under_way;
  const std::int64_t blocks = std::min(std::max<std::int64_t>(under_way / lane_count, 1), p.m / lane_count);
  const std::int64_t rows = blocks * lane_count;
  parallel(f, p.m / rows, static_cast<double>(rows) * nanoseconds_of_sum(f, p, 1), [&](const Rounds& some) {
    f.loop(some, f.constant(p.m / rows), [&](IrValue i) {
      for (std::int64_t k = 0; k < blocks; ++k) {
        IrValue first =
            ir.CreateAdd(ir.CreateMul(i, f.constant(rows), "", true, true), f.constant(k * lane_count), "", true, true);
        sink(spot(f, p, first, f.constant(0)), dots_of(f, p, first, lane_count), lane_count);
      }
    });
  });
  for (std::int64_t done = p.m / rows * rows; done < p.m; done = std::min(done + lane_count, p.m)) {
    const std::int64_t first = std::min(done, p.m - lane_count), again = done - first;
    IrValue sums = dots_of(f, p, f.constant(first), lane_count);
    std::vector<int> rest;
    for (std::int64_t k = 0; k < lane_count; ++k) rest.push_back(static_cast<int>(std::min(again + k, lane_count - 1)));
    if (again > 0) sums = ir.CreateShuffleVector(sums, rest);
    sink(spot(f, p, f.constant(done), f.constant(0)), sums, lane_count - again);
  }
}

}  // namespace rml::codegen
