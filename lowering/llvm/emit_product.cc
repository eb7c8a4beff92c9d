// Products of matrices and vectors.
//
// Each element of a product is the sum, in increasing k and beginning with the first, of
// single products. Vectors therefore run across elements, never along k: a tile of rows by
// columns keeps its sums in registers while k runs once through the operands,
//
//   for i in steps of 4, j in steps of two vectors:
//     s[4][2 vectors] = a[i.., 0] * b[0, j..];  for k: s += a[i.., k] * b[k, j..];  c = s
//
// which gives every sum its order, to the bit. A product with a vector (n = 1) keeps eight
// scalar sums going at once instead. The rest at an edge is a smaller tile.
#include <algorithm>

#include "lowering/llvm/body.h"

namespace rml::codegen {

void Body::matmul(ValueId v, ValueId a, ValueId b) {
  prepare(a);
  prepare(b);
  Shape x = info(a).shape, y = info(b).shape;
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (y.size() == 1) y.push_back(1);
  Product p{info(v).dtype, result(v), nullptr, nullptr, x[x.size() - 2], x.back(), y.back()};
  const Shape batch_a(x.begin(), x.end() - 2), batch_b(y.begin(), y.end() - 2);
  const Shape batch = *rml::broadcast(batch_a, batch_b);
  std::vector<Strides> views = {dense_strides(batch), broadcast_strides(batch_a, batch),
                                broadcast_strides(batch_b, batch)};
  const std::int64_t sizes[] = {p.m * p.n, p.m * p.inner, p.inner * p.n};
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::int64_t& stride : views[k]) stride *= sizes[k];
  }
  if (elements(info(v).shape) == 0) return;
  const bool unrolled = small(v) && small(a) && small(b);
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
  const std::int64_t lanes =
      std::max<std::int64_t>(module.vector_bits / 8 / static_cast<std::int64_t>(byte_size(p.dtype)), 2);
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
  IrValue first_row = ir.CreateMul(row, constant(p.inner), "", true, true);
  const auto terms = [&](IrValue k, bool first) {
    IrValue b_at = ir.CreateAdd(ir.CreateMul(k, constant(p.n), "", true, true), column, "", true, true);
    IrValue b = ir.CreateAlignedLoad(type, offset(p.dtype, p.b, b_at), align);
    for (std::int64_t r = 0; r < rows; ++r) {
      IrValue a_at = ir.CreateAdd(ir.CreateAdd(first_row, constant(r * p.inner), "", true, true), k, "", true, true);
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
