// Emits tiles of sums in registers. A tile at the lower edge has fewer rows; a tile at the right edge has narrower
// vectors.
#include "lowering/llvm/products/tile.h"

#include <algorithm>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/scalars/arithmetic.h"

namespace rml::codegen {

void emit_tile(Function& f, const Product& p, const Panel& panel, IrValue row, std::int64_t height, const Sink& sink,
               const Terms& more) {
  auto& ir = f.ir;
  llvm::Type* scalar_type = register_type(f.module.context, p.dtype);
  const std::int64_t lane_count = std::min(f.lanes(p.dtype), panel.width), vectors = panel.width / lane_count;
  llvm::Type* type =
      lane_count == 1 ? scalar_type : llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(lane_count));
  const llvm::Align align(byte_size(p.dtype));
  IrValue column = panel.column_of_c != nullptr ? panel.column_of_c : panel.column;
  const auto at_row = [&](std::int64_t r) { return ir.CreateAdd(row, f.constant(r), "", true, true); };
  const auto at_column = [&](std::int64_t vector) {
    return ir.CreateAdd(column, f.constant(vector * lane_count), "", true, true);
  };
  const auto count_of = [&](std::int64_t vector) {
    return std::clamp<std::int64_t>(panel.columns - vector * lane_count, 0, lane_count);
  };
  std::vector<llvm::AllocaInst*> sums;
  for (std::int64_t r = 0; r < height; ++r)
    for (std::int64_t j = 0; j < vectors; ++j) {
      sums.push_back(f.variable(type, "sum"));
      IrValue begin = no_terms(p.dtype, type);
      if (p.so_far != nullptr) {
        IrValue at = strided(f, strided(f, f.constant(0), at_row(r), p.n), at_column(j), 1);
        begin =
            load_elements(f, p.dtype, static_cast<unsigned>(lane_count), count_of(j), f.offset(p.dtype, p.so_far, at));
      }
      ir.CreateStore(begin, sums.back());
    }
  const auto add_terms = [&](const Product& q, const Panel& from) {
    IrValue first = strided(f, f.constant(0), row, q.a_row),
            b_first = strided(f, f.constant(0), from.column, from.column_stride);
    f.loop(q.all_inner != nullptr ? q.all_inner : f.constant(q.inner), [&](IrValue k) {
      std::vector<IrValue> b;
      IrValue b_at = strided(f, b_first, k, from.inner_stride);
      for (std::int64_t j = 0; j < vectors; ++j) {
        IrValue at = ir.CreateAdd(b_at, f.constant(j * lane_count), "", true, true);
        b.push_back(ir.CreateAlignedLoad(type, f.offset(q.dtype, from.data, at), align));
      }
      for (std::int64_t r = 0; r < height; ++r) {
        IrValue at = strided(f, ir.CreateAdd(first, f.constant(r * q.a_row), "", true, true), k, q.a_inner);
        IrValue a = ir.CreateAlignedLoad(scalar_type, f.offset(q.dtype, q.a, at), align);
        if (lane_count > 1) a = ir.CreateVectorSplat(static_cast<unsigned>(lane_count), a);
        for (std::int64_t j = 0; j < vectors; ++j) {
          auto* sum = sums[static_cast<std::size_t>(r * vectors + j)];
          ir.CreateStore(multiply_add(f, q.dtype, a, b[static_cast<std::size_t>(j)], ir.CreateLoad(type, sum)), sum);
        }
      }
    });
  };
  add_terms(p, panel);
  for (const auto& [q, from] : more) add_terms(*q, from);
  for (std::int64_t r = 0; r < height; ++r)
    for (std::int64_t j = 0; j < vectors; ++j)
      if (count_of(j) > 0)
        sink(spot(f, p, at_row(r), at_column(j)), ir.CreateLoad(type, sums[static_cast<std::size_t>(r * vectors + j)]),
             count_of(j));
}

void each_tile(Function& f, const Rounds& tiles, std::int64_t extent, std::int64_t size,
               const std::function<void(IrValue, std::int64_t)>& body) {
  auto& ir = f.ir;
  const std::int64_t whole = extent / size;
  f.loop(tiles, f.constant(whole), [&](IrValue i) { body(ir.CreateMul(i, f.constant(size), "", true, true), size); });
  if (extent % size == 0) return;
  const auto rest = [&] { body(f.constant(whole * size), extent % size); };
  if (tiles.end == nullptr) return rest();
  f.when(ir.CreateICmpSGT(tiles.end, f.constant(whole)), rest);
}

// Calls body for the rows of C. If their number is known at run time only, the remaining rows are in tiles of powers of
// two.
void each_row_tile(Function& f, const Product& p, std::int64_t size,
                   const std::function<void(IrValue, std::int64_t)>& body) {
  auto& ir = f.ir;
  if (p.all_m == nullptr) return each_tile(f, p.row_tiles, p.m, size, body);
  IrValue whole = ir.CreateUDiv(p.all_m, f.constant(size));
  f.loop(p.row_tiles, whole, [&](IrValue i) { body(ir.CreateMul(i, f.constant(size), "", true, true), size); });
  const auto behind = [&] {
    IrValue done = ir.CreateMul(whole, f.constant(size), "", true, true);
    IrValue rest = ir.CreateSub(p.all_m, done);
    std::int64_t height = 1;
    while (height * 2 < size) height *= 2;
    for (; height > 0; height /= 2) {
      IrValue some = ir.CreateAnd(rest, f.constant(height));
      f.when(ir.CreateICmpNE(some, f.constant(0)), [&] { body(done, height); });
      done = ir.CreateAdd(done, some, "", true, true);
    }
  };
  if (p.row_tiles.end == nullptr) return behind();
  f.when(ir.CreateICmpSGT(p.row_tiles.end, whole), behind);
}

std::int64_t widest_tile(const Target& target, const Product& p) {
  if (p.b_column != 1 && p.constant == nullptr) return 1;
  return target.row_vectors(p.m) * target.lanes(p.dtype);
}

// Computes a few rows; B is read in place. The columns are in vectors, the remaining ones in halves of vectors, down to
// one.
void emit_tiles(Function& f, const Product& p, const Sink& sink) {
  auto& ir = f.ir;
  const std::int64_t rows = std::min(p.m, Target::few_rows);
  std::int64_t done = 0;
  for (std::int64_t width = widest_tile(f.module.target, p); done < p.n; width /= 2) {
    const std::int64_t count = (p.n - done) / width;
    const auto column_of = [&](IrValue j) {
      return ir.CreateAdd(f.constant(done), ir.CreateMul(j, f.constant(width)), "", true, true);
    };
    parallel(f, count, static_cast<double>(width) * nanoseconds_of_sum(f, p, p.m), [&](const Rounds& some) {
      f.loop(some, f.constant(count), [&](IrValue j) {
        Panel panel{p.b, column_of(j), p.b_inner, p.b_column, width, width};
        if (p.packed != nullptr)
          panel = {p.packed,    ir.CreateMul(column_of(j), f.constant(p.inner), "", true, true), width, 1, width, width,
                   column_of(j)};
        each_tile(f, {}, p.m, rows, [&](IrValue i, std::int64_t height) { emit_tile(f, p, panel, i, height, sink); });
      });
    });
    done += count * width;
  }
}

}  // namespace rml::codegen
