// Products of matrices by tiles of registers.
//
// A tile of rows by columns keeps its sums in registers while k runs once through both operands:
//
//   s[rows][2 vectors] = 0;  for k: s += a[rows, k] * b[k, 2 vectors];  c = s
//
// With many rows, B is copied panel by panel first, so that a tile reads it from one end to the other:
//
//   for each panel of 2 vectors of columns:
//     pack[k][2 vectors] = b[k, columns]            zero beyond the last column
//     for i in steps of 6 rows: tile
//
// which also takes a transposed B. If k is long, it is cut into blocks whose panels stay in the cache; the sums
// of the blocks before wait in memory. A tile at the lower edge has fewer rows.
#include <algorithm>
#include <stdexcept>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void Body::each_tile(const Rounds& tiles, std::int64_t extent, std::int64_t size,
                     const std::function<void(IrValue, std::int64_t)>& body) {
  const std::int64_t whole = extent / size;
  loop(tiles, constant(whole), [&](IrValue i) { body(ir.CreateMul(i, constant(size), "", true, true), size); });
  if (extent % size == 0) return;
  const auto rest = [&] { body(constant(whole * size), extent % size); };
  if (tiles.end == nullptr) return rest();
  when(ir.CreateICmpSGT(tiles.end, constant(whole)), rest);
}

// The rows of C; where their number is not known, the rest is in tiles of powers of two.
void Body::each_row_tile(const Product& p, std::int64_t size, const std::function<void(IrValue, std::int64_t)>& body) {
  if (p.all_m == nullptr) return each_tile(p.row_tiles, p.m, size, body);
  IrValue whole = ir.CreateUDiv(p.all_m, constant(size));
  loop(p.row_tiles, whole, [&](IrValue i) { body(ir.CreateMul(i, constant(size), "", true, true), size); });
  const auto behind = [&] {
    IrValue done = ir.CreateMul(whole, constant(size), "", true, true);
    IrValue rest = ir.CreateSub(p.all_m, done);
    std::int64_t height = 1;
    while (height * 2 < size) height *= 2;
    for (; height > 0; height /= 2) {
      IrValue some = ir.CreateAnd(rest, constant(height));
      when(ir.CreateICmpNE(some, constant(0)), [&] { body(done, height); });
      done = ir.CreateAdd(done, some, "", true, true);
    }
  };
  if (p.row_tiles.end == nullptr) return behind();
  when(ir.CreateICmpSGT(p.row_tiles.end, whole), behind);
}

std::int64_t Body::widest_tile(const Product& p) const {
  if (p.b_column != 1 && p.constant == nullptr) return 1;
  return module.target.row_vectors(p.m) * lanes(p.dtype);
}

// A few rows: B is read where it lies. Columns in vectors; the rest in halves of vectors, down to one.
void Body::tiles(const Product& p, const Sink& sink) {
  const std::int64_t rows = std::min(p.m, Target::few_rows);
  std::int64_t done = 0;
  for (std::int64_t width = widest_tile(p); done < p.n; width /= 2) {
    const std::int64_t count = (p.n - done) / width;
    const auto column_of = [&](IrValue j) {
      return ir.CreateAdd(constant(done), ir.CreateMul(j, constant(width)), "", true, true);
    };
    parallel(count, static_cast<double>(width) * nanoseconds_of_sum(p, p.m), [&](const Rounds& some) {
      loop(some, constant(count), [&](IrValue j) {
        Panel panel{p.b, column_of(j), p.b_inner, p.b_column, width, width};
        if (p.packed != nullptr)
          panel = {p.packed,    ir.CreateMul(column_of(j), constant(p.inner), "", true, true), width, 1, width, width,
                   column_of(j)};
        each_tile({}, p.m, rows, [&](IrValue i, std::int64_t height) { tile(p, panel, i, height, sink); });
      });
    });
    done += count * width;
  }
}

// Of k in one packed panel, which leaves room in a first-level cache for rows of A.
std::int64_t Body::block_depth(DType dtype) const {
  const std::int64_t row_bytes = 2 * lanes(dtype) * static_cast<std::int64_t>(byte_size(dtype));
  return std::max<std::int64_t>(module.target.near_bytes / row_bytes, 1);
}

void Body::gemm(const Product& p, const Sink& sink) {
  const std::int64_t depth = block_depth(p.dtype);
  IrValue sums = nullptr;
  if (p.all_inner == nullptr && p.inner > depth + depth / 2) {
    if (p.all_m != nullptr)
      throw std::logic_error("code generation: no place for the sums of a product of unknown height");
    sums = scratch(p.dtype, {p.m, p.n}, "sums");
  }
  share_out(p, [&](const Product& part) {
    if (sums != nullptr) return gemm_by_blocks(part, sums, sink);
    gemm_panels(part, sink);
  });
}

void Body::gemm_panels(const Product& p, const Sink& sink) {
  const std::int64_t width = 2 * lanes(p.dtype), depth = std::min(p.inner, block_depth(p.dtype));
  IrValue pack = scratch(p.dtype, {p.all_inner != nullptr ? depth : p.inner, width}, "panel");
  const auto panel = [&](IrValue column, std::int64_t columns) {
    fill_panel(p, pack, column, columns, width);
    each_row_tile(p, std::min(module.target.tile_rows(p.dtype), p.m), [&](IrValue i, std::int64_t height) {
      tile(p, {pack, constant(0), width, 1, columns, width, column}, i, height, sink);
    });
  };
  each_tile(p.panels, p.n, width, panel);
}

// To `to`, where the sums of blocks wait: any extents may be known only while running.
void Body::gemm_into(const Product& p, IrValue to) {
  const Access access = separate(1)[0];
  const Sink keep = [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(p.dtype, vector, count, offset(p.dtype, to, at.offset), access);
  };
  share_out(p, [&](const Product& part) {
    if (part.all_inner == nullptr) return gemm_by_blocks(part, to, keep);
    gemm_by_unknown_blocks(part, to, keep);
  });
}

// Added to what is there; of many terms the sum is made first, so that small ones are not lost one by one.
void Body::gemm_onto(const Product& p, IrValue sums, IrValue to) {
  const Access access = separate(1)[0];
  const auto add_to = [&](IrValue there, IrValue more, std::int64_t count) {
    auto* type = llvm::dyn_cast<llvm::FixedVectorType>(more->getType());
    IrValue before = load_elements(p.dtype, type == nullptr ? 1 : type->getNumElements(), count, there);
    store_elements(p.dtype, add(p.dtype, before, more), count, there, access);
  };
  const Sink onto = [&](const Spot& at, IrValue vector, std::int64_t count) {
    add_to(offset(p.dtype, to, at.offset), vector, count);
  };
  const auto at_once = [&] { share_out(p, [&](const Product& part) { gemm_by_unknown_blocks(part, nullptr, onto); }); };
  const auto sum_first = [&] {
    gemm_into(p, sums);
    loop(constant(p.m * p.n),
         [&](IrValue i) { add_to(offset(p.dtype, to, i), load(p.dtype, offset(p.dtype, sums, i)), 1); });
  };
  when(ir.CreateICmpULE(p.all_inner, constant(module.numeric.blocks_onto * block_depth(p.dtype))), at_once, sum_first);
}

// To `to`, or where that is nothing, each block to the sink.
void Body::gemm_by_unknown_blocks(const Product& p, IrValue to, const Sink& keep) {
  const std::int64_t depth = block_depth(p.dtype);
  const auto block = [&](IrValue begin, bool first) {
    Product part = p;
    part.inner = depth;
    part.all_inner = ir.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir.CreateSub(p.all_inner, begin), constant(depth));
    part.a = offset(p.dtype, p.a, place(constant(0), begin, p.a_inner));
    part.b = offset(p.dtype, p.b, place(constant(0), begin, p.b_inner));
    part.so_far = first ? nullptr : to;
    gemm_panels(part, keep);
  };
  block(constant(0), true);
  IrValue more = ir.CreateUDiv(ir.CreateSub(p.all_inner, constant(1)), constant(depth));
  loop(more, [&](IrValue i) {
    block(ir.CreateMul(ir.CreateAdd(i, constant(1), "", true, true), constant(depth), "", true, true), false);
  });
}

// In blocks of k of about the same depth; until the last one the sums lie at `sums`.
void Body::gemm_by_blocks(const Product& p, IrValue sums, const Sink& sink) {
  const std::int64_t depth = block_depth(p.dtype);
  const std::int64_t blocks = p.inner > depth + depth / 2 ? (p.inner + depth - 1) / depth : 1;
  const std::int64_t step = (p.inner + blocks - 1) / blocks;
  const Access access = separate(1)[0];
  const Sink keep = [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(p.dtype, vector, count, offset(p.dtype, sums, at.offset), access);
  };
  for (std::int64_t begin = 0; begin < p.inner; begin += step) {
    Product block = p;
    block.inner = std::min(step, p.inner - begin);
    block.a = offset(p.dtype, p.a, constant(begin * p.a_inner));
    block.b = offset(p.dtype, p.b, constant(begin * p.b_inner));
    block.so_far = begin == 0 ? nullptr : sums;
    const bool last = begin + step >= p.inner;
    if (last) {
      gemm_panels(block, sink);
    } else {
      block.c = constant(0);
      gemm_panels(block, keep);
    }
  }
}

// pack[k][j] = b[k, column + j] for all k; columns beyond those there are zero.
void Body::fill_panel(const Product& p, IrValue pack, IrValue column, std::int64_t columns, std::int64_t width) {
  auto* scalar_type = memory_type(module.context, p.dtype);
  const llvm::Align align(byte_size(p.dtype));
  IrValue from = place(constant(0), column, p.b_column);
  const std::vector<Access> access = separate(2);
  const auto move = [&](IrValue k, IrValue j) {
    IrValue value = load(p.dtype, offset(p.dtype, p.b, place(place(from, k, p.b_inner), j, p.b_column)), access[1]);
    store(p.dtype, value, offset(p.dtype, pack, place(j, k, width)), access[0]);
  };
  IrValue inner = p.all_inner != nullptr ? p.all_inner : constant(p.inner);
  if (columns < width) {
    IrValue row = constant(width * static_cast<std::int64_t>(byte_size(p.dtype)));
    ir.CreateMemSet(pack, ir.getInt8(0), ir.CreateMul(inner, row), align);
  }
  if (p.b_column == 1 && columns == width && width > 1) {
    auto* type = llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(width));
    loop(inner, [&](IrValue k) {
      auto* value = ir.CreateAlignedLoad(type, offset(p.dtype, p.b, place(from, k, p.b_inner)), align);
      ir.CreateAlignedStore(value, offset(p.dtype, pack, place(constant(0), k, width)), align);
    });
  } else if (p.all_inner == nullptr && p.b_inner == 1 && columns >= lanes(p.dtype) && lanes(p.dtype) > 1 &&
             p.inner >= lanes(p.dtype)) {
    fill_panel_transposed(p, pack, from, columns, width);
  } else {
    loop(inner, [&](IrValue k) { loop(columns, [&](IrValue j) { move(k, j); }); });
  }
}

// Squares of as many columns as a vector has lanes, transposed in registers; squares at an edge begin
// earlier and move some elements again.
void Body::fill_panel_transposed(const Product& p, IrValue pack, IrValue from, std::int64_t columns,
                                 std::int64_t width) {
  const std::int64_t side = lanes(p.dtype);
  auto* type = llvm::FixedVectorType::get(register_type(module.context, p.dtype), static_cast<unsigned>(side));
  const llvm::Align align(byte_size(p.dtype));
  const auto square = [&](IrValue k, IrValue j) {
    std::vector<IrValue> vectors;
    for (std::int64_t r = 0; r < side; ++r) {
      IrValue row = place(from, ir.CreateAdd(j, constant(r), "", true, true), p.b_column);
      vectors.push_back(ir.CreateAlignedLoad(type, offset(p.dtype, p.b, ir.CreateAdd(row, k, "", true, true)), align));
    }
    transpose_square(vectors);
    for (std::int64_t r = 0; r < side; ++r) {
      IrValue to = place(j, ir.CreateAdd(k, constant(r), "", true, true), width);
      ir.CreateAlignedStore(vectors[static_cast<std::size_t>(r)], offset(p.dtype, pack, to), align);
    }
  };
  const auto each = [&](std::int64_t extent, const std::function<void(IrValue)>& body) {
    loop(extent / side, [&](IrValue i) { body(ir.CreateMul(i, constant(side), "", true, true)); });
    if (extent % side != 0) body(constant(extent - side));
  };
  each(p.inner, [&](IrValue k) { each(columns, [&](IrValue j) { square(k, j); }); });
}

// As many vectors as each has lanes, a power of two: in every round, halves of the lanes that are
// `distance` apart change places between vectors that are.
void Body::transpose_square(std::vector<IrValue>& vectors) {
  const auto lanes = static_cast<int>(vectors.size());
  for (int distance = 1; distance < lanes; distance *= 2) {
    std::vector<int> low, high;
    for (int lane = 0; lane < lanes; ++lane) {
      const bool second = (lane & distance) != 0;
      low.push_back(second ? lanes + lane - distance : lane);
      high.push_back(second ? lanes + lane : lane + distance);
    }
    for (int i = 0; i < lanes; ++i) {
      if ((i & distance) != 0) continue;
      auto &x = vectors[static_cast<std::size_t>(i)], &y = vectors[static_cast<std::size_t>(i + distance)];
      IrValue upper = ir.CreateShuffleVector(x, y, high);
      x = ir.CreateShuffleVector(x, y, low);
      y = upper;
    }
  }
}

// Sums of `height` rows from `row` on, over the panel's columns.
void Body::tile(const Product& p, const Panel& panel, IrValue row, std::int64_t height, const Sink& sink,
                const Terms& more) {
  llvm::Type* scalar_type = register_type(module.context, p.dtype);
  const std::int64_t lane_count = std::min(lanes(p.dtype), panel.width), vectors = panel.width / lane_count;
  llvm::Type* type =
      lane_count == 1 ? scalar_type : llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(lane_count));
  const llvm::Align align(byte_size(p.dtype));
  IrValue column = panel.column_of_c != nullptr ? panel.column_of_c : panel.column;
  const auto at_row = [&](std::int64_t r) { return ir.CreateAdd(row, constant(r), "", true, true); };
  const auto at_column = [&](std::int64_t vector) {
    return ir.CreateAdd(column, constant(vector * lane_count), "", true, true);
  };
  const auto count_of = [&](std::int64_t vector) {
    return std::clamp<std::int64_t>(panel.columns - vector * lane_count, 0, lane_count);
  };
  std::vector<llvm::AllocaInst*> sums;
  for (std::int64_t r = 0; r < height; ++r)
    for (std::int64_t j = 0; j < vectors; ++j) {
      sums.push_back(variable(type, "sum"));
      IrValue begin = no_terms(p.dtype, type);
      if (p.so_far != nullptr) {
        IrValue at = place(place(constant(0), at_row(r), p.n), at_column(j), 1);
        begin = load_elements(p.dtype, static_cast<unsigned>(lane_count), count_of(j), offset(p.dtype, p.so_far, at));
      }
      ir.CreateStore(begin, sums.back());
    }
  const auto add_terms = [&](const Product& q, const Panel& from) {
    IrValue first = place(constant(0), row, q.a_row), b_first = place(constant(0), from.column, from.column_stride);
    loop(q.all_inner != nullptr ? q.all_inner : constant(q.inner), [&](IrValue k) {
      std::vector<IrValue> b;
      IrValue b_at = place(b_first, k, from.inner_stride);
      for (std::int64_t j = 0; j < vectors; ++j) {
        IrValue at = ir.CreateAdd(b_at, constant(j * lane_count), "", true, true);
        b.push_back(ir.CreateAlignedLoad(type, offset(q.dtype, from.data, at), align));
      }
      for (std::int64_t r = 0; r < height; ++r) {
        IrValue at = place(ir.CreateAdd(first, constant(r * q.a_row), "", true, true), k, q.a_inner);
        IrValue a = ir.CreateAlignedLoad(scalar_type, offset(q.dtype, q.a, at), align);
        if (lane_count > 1) a = ir.CreateVectorSplat(static_cast<unsigned>(lane_count), a);
        for (std::int64_t j = 0; j < vectors; ++j) {
          auto* sum = sums[static_cast<std::size_t>(r * vectors + j)];
          ir.CreateStore(multiply_add(q.dtype, a, b[static_cast<std::size_t>(j)], ir.CreateLoad(type, sum)), sum);
        }
      }
    });
  };
  add_terms(p, panel);
  for (const auto& [q, from] : more) add_terms(*q, from);
  for (std::int64_t r = 0; r < height; ++r)
    for (std::int64_t j = 0; j < vectors; ++j)
      if (count_of(j) > 0)
        sink(spot(p, at_row(r), at_column(j)), ir.CreateLoad(type, sums[static_cast<std::size_t>(r * vectors + j)]),
             count_of(j));
}

// `count` elements from there, and zeros; more than one lane: a vector.
IrValue Body::load_elements(DType dtype, unsigned lane_count, std::int64_t count, IrValue from) {
  if (lane_count == 1) return load(dtype, from);
  const llvm::Align align(byte_size(dtype));
  auto* type = llvm::FixedVectorType::get(memory_type(module.context, dtype), lane_count);
  IrValue all = llvm::Constant::getNullValue(type);
  if (lane_count == count) {
    all = ir.CreateAlignedLoad(type, from, align);
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      IrValue x = ir.CreateAlignedLoad(type->getElementType(), offset(dtype, from, constant(k)), align);
      all = ir.CreateInsertElement(all, x, static_cast<std::uint64_t>(k));
    }
  }
  if (dtype != DType::boolean) return all;
  return ir.CreateTrunc(all, llvm::FixedVectorType::get(ir.getInt1Ty(), lane_count));
}

}  // namespace rml::codegen
