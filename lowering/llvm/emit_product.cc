// Products of matrices and vectors.
//
// Each element of a product is the sum, in increasing k and beginning with the first, of
// single products. Vectors therefore run across elements, never along k: a tile of rows by
// columns keeps its sums in registers while k runs once through the operands,
//
//   for i in steps of 4, j in steps of two vectors:
//     s[4][2 vectors] = a[i.., 0] * b[0, j..];  for k: s += a[i.., k] * b[k, j..];  c = s
//
// which gives every sum its order, to the bit. The rest at an edge is a smaller tile. A product with
// a vector (n = 1) has its vectors run across rows: blocks of the matrix are transposed in registers.
// A transposed left operand is read where it lies.
#include <algorithm>

#include "lowering/llvm/body.h"

namespace rml::codegen {

void Body::matmul(ValueId v, ValueId a, ValueId b) {
  Shape x = info(a).shape, y = info(b).shape;
  const bool unrolled = small(v) && small(a) && small(b);
  const bool transposed = module.inlined(a) && !unrolled && is_transposition(a);
  if (transposed) a = std::get<core::Apply>(info(a).rhs).operands[0];
  prepare(a);
  prepare(b);
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (y.size() == 1) y.push_back(1);
  Product p{info(v).dtype, result(v), nullptr, nullptr, x[x.size() - 2], x.back(), y.back(), x.back(), 1};
  if (transposed) p.a_row = 1, p.a_inner = p.m;
  const Shape batch_a(x.begin(), x.end() - 2), batch_b(y.begin(), y.end() - 2);
  const Shape batch = *rml::broadcast(batch_a, batch_b);
  std::vector<Strides> views = {dense_strides(batch), broadcast_strides(batch_a, batch),
                                broadcast_strides(batch_b, batch)};
  const std::int64_t sizes[] = {p.m * p.n, p.m * p.inner, p.inner * p.n};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::int64_t& stride : views[k]) stride *= sizes[k];
  }
  if (elements(info(v).shape) == 0) return;
  if (!unrolled) p.a = address(a), p.b = address(b);
  walk(batch, views, unrolled, [&](const std::vector<IrValue>& at) {
    if (unrolled) return matmul_unrolled(v, a, b, p, at);
    Product one = p;
    one.c = offset(p.dtype, p.c, at[0]);
    one.a = offset(p.dtype, p.a, at[1]);
    one.b = offset(p.dtype, p.b, at[2]);
    product(one);
  });
}

void Body::matmul_unrolled(ValueId, ValueId a, ValueId b, const Product& p, const std::vector<IrValue>& at) {
  const auto place = [&](IrValue base, std::int64_t index) { return ir.CreateAdd(base, constant(index)); };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      IrValue sum = llvm::Constant::getNullValue(register_type(module.context, p.dtype));
      for (std::int64_t k = 0; k < p.inner; ++k) {
        IrValue term =
            multiply(p.dtype, element(a, place(at[1], i * p.inner + k)), element(b, place(at[2], k * p.n + j)));
        sum = k == 0 ? term : add(p.dtype, sum, term);
      }
      store(p.dtype, sum, offset(p.dtype, p.c, place(at[0], i * p.n + j)));
    }
  }
}

void Body::tiles(std::int64_t extent, std::int64_t size, const std::function<void(IrValue, std::int64_t)>& body) {
  const std::int64_t whole = extent / size;
  loop(whole, [&](IrValue i) { body(ir.CreateMul(i, constant(size), "", true, true), size); });
  if (extent % size != 0) body(constant(whole * size), extent % size);
}

void Body::product(const Product& p) {
  if (p.n == 1 && p.m > 1 && p.a_row == 1) {
    // The sums of one row: the vector by the matrix that lies there.
    return product({p.dtype, p.c, p.b, p.a, 1, p.inner, p.m, p.inner, 1});
  }
  const std::int64_t lanes =
      std::max<std::int64_t>(module.vector_bits / 8 / static_cast<std::int64_t>(byte_size(p.dtype)), 2);
  if (p.n == 1 && module.vector_bits > 0 && p.m >= lanes && p.inner >= lanes) return matrix_by_vector(p, lanes);
  const std::int64_t rows = p.n == 1 ? 8 : module.vector_bits == 0 ? 2 : 4;
  const std::int64_t columns = p.n == 1 ? 1 : p.m == 1 ? 4 * lanes : 2 * lanes;
  tiles(p.m, std::min(rows, p.m), [&](IrValue i, std::int64_t height) {
    tiles(p.n, std::min(columns, p.n), [&](IrValue j, std::int64_t width) { tile(p, i, j, height, width); });
  });
}

void Body::tile(const Product& p, IrValue row, IrValue column, std::int64_t rows, std::int64_t columns) {
  llvm::Type* scalar_type = register_type(module.context, p.dtype);
  llvm::Type* type =
      columns == 1 ? scalar_type : llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(columns));
  const llvm::Align align(byte_size(p.dtype));
  std::vector<llvm::AllocaInst*> sums;
  for (std::int64_t r = 0; r < rows; ++r) sums.push_back(variable(type, "sum"));
  IrValue first_row = ir.CreateMul(row, constant(p.a_row), "", true, true);
  const auto terms = [&](IrValue k, bool first) {
    IrValue b_at = ir.CreateAdd(ir.CreateMul(k, constant(p.n), "", true, true), column, "", true, true);
    IrValue b = ir.CreateAlignedLoad(type, offset(p.dtype, p.b, b_at), align);
    for (std::int64_t r = 0; r < rows; ++r) {
      IrValue a_at = ir.CreateAdd(ir.CreateAdd(first_row, constant(r * p.a_row), "", true, true),
                                  ir.CreateMul(k, constant(p.a_inner), "", true, true), "", true, true);
      IrValue a = ir.CreateAlignedLoad(scalar_type, offset(p.dtype, p.a, a_at), align);
      if (columns > 1) a = ir.CreateVectorSplat(static_cast<unsigned>(columns), a);
      IrValue term = multiply(p.dtype, a, b);
      auto* sum = sums[static_cast<std::size_t>(r)];
      ir.CreateStore(first ? term : add(p.dtype, ir.CreateLoad(type, sum), term), sum);
    }
  };
  if (p.inner == 0) {
    for (auto* sum : sums) ir.CreateStore(llvm::Constant::getNullValue(type), sum);
  } else {
    terms(constant(0), true);
    loop(p.inner - 1, [&](IrValue k) { terms(ir.CreateAdd(k, constant(1), "", true, true), false); });
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    IrValue c_at = ir.CreateAdd(ir.CreateMul(ir.CreateAdd(row, constant(r)), constant(p.n), "", true, true), column, "",
                                true, true);
    ir.CreateAlignedStore(ir.CreateLoad(type, sums[static_cast<std::size_t>(r)]), offset(p.dtype, p.c, c_at), align);
  }
}

// Two blocks of rows at a time, for their sums to overlap; the last rows are blocks that begin
// earlier, and compute some sums again.
void Body::matrix_by_vector(const Product& p, std::int64_t lanes) {
  const std::int64_t pair = std::min<std::int64_t>(2, p.m / lanes), size = pair * lanes;
  loop(p.m / size, [&](IrValue i) { rows_by_vector(p, ir.CreateMul(i, constant(size), "", true, true), pair, lanes); });
  if (p.m % size != 0) rows_by_vector(p, constant(p.m - size), pair, lanes);
}

void Body::rows_by_vector(const Product& p, IrValue row, std::int64_t blocks, std::int64_t lanes) {
  auto* scalar_type = register_type(module.context, p.dtype);
  auto* type = llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(lanes));
  const llvm::Align align(byte_size(p.dtype));
  std::vector<llvm::AllocaInst*> sums;
  for (std::int64_t b = 0; b < blocks; ++b) sums.push_back(variable(type, "sum"));
  const auto place = [&](std::int64_t r, IrValue k) {
    IrValue at = ir.CreateMul(ir.CreateAdd(row, constant(r), "", true, true), constant(p.a_row), "", true, true);
    return offset(p.dtype, p.a, ir.CreateAdd(at, k, "", true, true));
  };
  const auto accumulate = [&](std::int64_t block, IrValue column, IrValue factor, bool first) {
    IrValue term = multiply(p.dtype, column, ir.CreateVectorSplat(static_cast<unsigned>(lanes), factor));
    auto* sum = sums[static_cast<std::size_t>(block)];
    ir.CreateStore(first ? term : add(p.dtype, ir.CreateLoad(type, sum), term), sum);
  };
  const auto factor = [&](IrValue k) { return ir.CreateAlignedLoad(scalar_type, offset(p.dtype, p.b, k), align); };
  const auto square = [&](IrValue k, bool first) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::vector<IrValue> columns;
      for (std::int64_t r = 0; r < lanes; ++r)
        columns.push_back(ir.CreateAlignedLoad(type, place(b * lanes + r, k), align));
      transpose_square(columns);
      for (std::int64_t c = 0; c < lanes; ++c)
        accumulate(b, columns[static_cast<std::size_t>(c)], factor(ir.CreateAdd(k, constant(c), "", true, true)),
                   first && c == 0);
    }
  };
  square(constant(0), true);
  loop(p.inner / lanes - 1, [&](IrValue k) {
    square(ir.CreateMul(ir.CreateAdd(k, constant(1), "", true, true), constant(lanes), "", true, true), false);
  });
  for (std::int64_t k = p.inner / lanes * lanes; k < p.inner; ++k) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      IrValue column = llvm::PoisonValue::get(type);
      for (std::int64_t r = 0; r < lanes; ++r) {
        IrValue a = ir.CreateAlignedLoad(scalar_type, place(b * lanes + r, constant(k)), align);
        column = ir.CreateInsertElement(column, a, static_cast<std::uint64_t>(r));
      }
      accumulate(b, column, factor(constant(k)), false);
    }
  }
  for (std::int64_t b = 0; b < blocks; ++b) {
    IrValue at = ir.CreateAdd(row, constant(b * lanes), "", true, true);
    ir.CreateAlignedStore(ir.CreateLoad(type, sums[static_cast<std::size_t>(b)]), offset(p.dtype, p.c, at), align);
  }
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

bool Body::is_transposition(ValueId v) const {
  const auto* apply = std::get_if<core::Apply>(&info(v).rhs);
  return apply != nullptr && operators()[apply->op].lowering == Lowering::transpose;
}

void Body::outer(ValueId v, ValueId a, ValueId b) {
  prepare(a);
  prepare(b);
  const Shape& shape = info(v).shape;
  const DType dtype = info(v).dtype;
  IrValue to = result(v);
  const std::vector<Access> access = small(v) ? std::vector<Access>(3) : separate(3);
  walk(shape, {dense_strides(shape), {1, 0}, {0, 1}}, small(v), [&](const std::vector<IrValue>& at) {
    IrValue term = multiply(dtype, element(a, at[1], access[1]), element(b, at[2], access[2]));
    store(dtype, term, offset(dtype, to, at[0]), access[0]);
  });
}

}  // namespace rml::codegen
