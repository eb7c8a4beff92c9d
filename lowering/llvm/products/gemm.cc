// Products of matrices by tiles in registers (tile.h). B is first copied panel by panel, so that a tile reads it
// sequentially.
//
//   for each panel of 2 vectors of columns:
//     pack[k][2 vectors] = b[k, columns]            zero beyond the last column
//     for i in steps of 6 rows: tile
//
// This also handles a transposed B. If k is long, it is cut into blocks whose panels stay in the cache; the sums of
// earlier blocks are kept in memory.
#include "lowering/llvm/products/gemm.h"

#include <algorithm>
#include <stdexcept>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/products/panel.h"
#include "lowering/llvm/products/tile.h"
#include "lowering/llvm/scalars/arithmetic.h"

namespace rml::codegen {

namespace {

// The tiles of C: `height` rows by a panel of `width` columns each.
struct Grid {
  std::int64_t width, height, panels, rows;  // size of a tile; number of tiles in each direction
};

Grid grid_of(const Function& f, const Product& p) {
  const std::int64_t width = 2 * f.lanes(p.dtype), height = std::min(f.module.target.tile_rows(p.dtype), p.m);
  return {width, height, (p.n + width - 1) / width, p.all_m != nullptr ? INT64_MAX / 4 : (p.m + height - 1) / height};
}

// What threads share: panels of columns, each packed by the thread that computes it; or, if there are too few panels,
// rows, where each thread packs all panels.
enum class Shared : std::uint8_t { nothing, panels, rows };

Shared shared_of(const Function& f, const Product& p, const Grid& grid) {
  const Target& target = f.module.target;
  const bool known = p.all_m == nullptr && p.all_inner == nullptr;
  const double all = static_cast<double>(p.m) * static_cast<double>(p.inner) * static_cast<double>(p.n) *
                     nanoseconds_of_product(f, p.dtype);
  if (target.threads < 2 || f.frame.worker != nullptr || (known && all < 2 * target.costs.work_of_thread))
    return Shared::nothing;
  // The share of the threads' time that is work, if all tiles take equally long.
  const auto use = [&](std::int64_t rounds) {
    const auto longest = static_cast<double>((rounds + target.threads - 1) / target.threads);
    return static_cast<double>(rounds) / (longest * target.threads);
  };
  const bool by_rows = use(grid.rows) * target.costs.uneven_rows > use(grid.panels);
  if ((by_rows ? grid.rows : grid.panels) < 2) return Shared::nothing;
  return by_rows ? Shared::rows : Shared::panels;
}

void share_out(Function& f, const Product& p, const std::function<void(const Product&)>& part) {
  auto& ir = f.ir;
  const Grid grid = grid_of(f, p);
  const Shared shared = shared_of(f, p, grid);
  if (shared == Shared::nothing) return part(p);
  const bool by_rows = shared == Shared::rows;
  IrValue rows = p.all_m != nullptr ? p.all_m : f.constant(p.m);
  IrValue inner = p.all_inner != nullptr ? p.all_inner : f.constant(p.inner);
  IrValue count = f.constant(grid.panels);
  if (by_rows)
    count = ir.CreateUDiv(ir.CreateAdd(rows, f.constant(grid.height - 1), "", true, true), f.constant(grid.height));
  // The work of a round, in products.
  IrValue work = by_rows ? ir.CreateMul(inner, f.constant(grid.height * p.n))
                         : ir.CreateMul(ir.CreateMul(inner, rows), f.constant(grid.width));
  const auto enough =
      static_cast<std::int64_t>(f.module.target.costs.work_of_thread / nanoseconds_of_product(f, p.dtype));
  IrValue grain =
      ir.CreateUDiv(f.constant(enough), ir.CreateBinaryIntrinsic(llvm::Intrinsic::umax, work, f.constant(1)));
  grain = ir.CreateIntCast(ir.CreateAdd(grain, f.constant(1)), f.module.i64(), false);
  parallel(f, count, grain, [&](const Rounds& rounds) {
    Product some = p;
    (by_rows ? some.row_tiles : some.panels) = rounds;
    part(some);
  });
}

// The length of k in one packed panel, such that a first-level cache has room left for rows of A.
std::int64_t block_depth(const Function& f, DType dtype) {
  const std::int64_t row_bytes = 2 * f.lanes(dtype) * static_cast<std::int64_t>(byte_size(dtype));
  return std::max<std::int64_t>(f.module.target.near_bytes / row_bytes, 1);
}

void gemm_panels(Function& f, const Product& p, const Sink& sink) {
  const std::int64_t width = 2 * f.lanes(p.dtype), depth = std::min(p.inner, block_depth(f, p.dtype));
  IrValue pack = f.scratch(p.dtype, {p.all_inner != nullptr ? depth : p.inner, width}, "panel");
  const auto panel = [&](IrValue column, std::int64_t columns) {
    fill_panel(f, p, pack, column, columns, width);
    each_row_tile(f, p, std::min(f.module.target.tile_rows(p.dtype), p.m), [&](IrValue i, std::int64_t height) {
      emit_tile(f, p, {pack, f.constant(0), width, 1, columns, width, column}, i, height, sink);
    });
  };
  each_tile(f, p.panels, p.n, width, panel);
}

// Writes to `to` or, if that is null, hands each block to the sink.
void gemm_by_unknown_blocks(Function& f, const Product& p, IrValue to, const Sink& keep) {
  auto& ir = f.ir;
  const std::int64_t depth = block_depth(f, p.dtype);
  const auto block = [&](IrValue begin, bool first) {
    Product part = p;
    part.inner = depth;
    part.all_inner =
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateSub(p.all_inner, begin), f.constant(depth));
    part.a = f.offset(p.dtype, p.a, strided(f, f.constant(0), begin, p.a_inner));
    part.b = f.offset(p.dtype, p.b, strided(f, f.constant(0), begin, p.b_inner));
    part.so_far = first ? nullptr : to;
    gemm_panels(f, part, keep);
  };
  block(f.constant(0), true);
  IrValue more = ir.CreateUDiv(ir.CreateSub(p.all_inner, f.constant(1)), f.constant(depth));
  f.loop(more, [&](IrValue i) {
    block(ir.CreateMul(ir.CreateAdd(i, f.constant(1), "", true, true), f.constant(depth), "", true, true), false);
  });
}

// Splits k into blocks of about the same depth. Until the last block the sums are kept at `sums`.
void gemm_by_blocks(Function& f, const Product& p, IrValue sums, const Sink& sink) {
  const std::int64_t depth = block_depth(f, p.dtype);
  const std::int64_t blocks = p.inner > depth + depth / 2 ? (p.inner + depth - 1) / depth : 1;
  const std::int64_t step = (p.inner + blocks - 1) / blocks;
  const Access access = separate(f.module.context, 1)[0];
  const Sink keep = [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(f, p.dtype, vector, count, f.offset(p.dtype, sums, at.offset), access);
  };
  for (std::int64_t begin = 0; begin < p.inner; begin += step) {
    Product block = p;
    block.inner = std::min(step, p.inner - begin);
    block.a = f.offset(p.dtype, p.a, f.constant(begin * p.a_inner));
    block.b = f.offset(p.dtype, p.b, f.constant(begin * p.b_inner));
    block.so_far = begin == 0 ? nullptr : sums;
    const bool last = begin + step >= p.inner;
    if (last) {
      gemm_panels(f, block, sink);
    } else {
      block.c = f.constant(0);
      gemm_panels(f, block, keep);
    }
  }
}

}  // namespace

void emit_gemm(Function& f, const Product& p, const Sink& sink) {
  const std::int64_t depth = block_depth(f, p.dtype);
  IrValue sums = nullptr;
  if (p.all_inner == nullptr && p.inner > depth + depth / 2) {
    if (p.all_m != nullptr)
      throw std::logic_error("code generation: no place for the sums of a product of unknown height");
    sums = f.scratch(p.dtype, {p.m, p.n}, "sums");
  }
  share_out(f, p, [&](const Product& part) {
    if (sums != nullptr) return gemm_by_blocks(f, part, sums, sink);
    gemm_panels(f, part, sink);
  });
}

void gemm_into(Function& f, const Product& p, IrValue to) {
  const Access access = separate(f.module.context, 1)[0];
  const Sink keep = [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(f, p.dtype, vector, count, f.offset(p.dtype, to, at.offset), access);
  };
  share_out(f, p, [&](const Product& part) {
    if (part.all_inner == nullptr) return gemm_by_blocks(f, part, to, keep);
    gemm_by_unknown_blocks(f, part, to, keep);
  });
}

// Adds to the destination. If there are many terms they are summed first, so that small terms are not lost one by one.
void gemm_onto(Function& f, const Product& p, IrValue sums, IrValue to) {
  const Access access = separate(f.module.context, 1)[0];
  const auto add_to = [&](IrValue there, IrValue more, std::int64_t count) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(more->getType());
    IrValue before = load_elements(f, p.dtype, type == nullptr ? 1 : type->getNumElements(), count, there);
    store_elements(f, p.dtype, add(f, p.dtype, before, more), count, there, access);
  };
  const Sink onto = [&](const Spot& at, IrValue vector, std::int64_t count) {
    add_to(f.offset(p.dtype, to, at.offset), vector, count);
  };
  const auto at_once = [&] {
    share_out(f, p, [&](const Product& part) { gemm_by_unknown_blocks(f, part, nullptr, onto); });
  };
  const auto sum_first = [&] {
    gemm_into(f, p, sums);
    f.loop(f.constant(p.m * p.n),
           [&](IrValue i) { add_to(f.offset(p.dtype, to, i), f.load(p.dtype, f.offset(p.dtype, sums, i)), 1); });
  };
  f.when(f.ir.CreateICmpULE(p.all_inner, f.constant(f.module.numeric.blocks_onto * block_depth(f, p.dtype))), at_once,
         sum_first);
}

}  // namespace rml::codegen
