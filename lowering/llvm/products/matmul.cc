// Emits a stack of products as a walk over the stack, with the loops chosen by form.h for each product. Products of
// small matrices are unrolled element by element.
//
// Products and additions are fused where possible, and sums along vectors have the order of their lanes, unless
// strict_math requires the increasing order of k.
#include "lowering/llvm/products/matmul.h"

#include <algorithm>

#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/function/walk.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/products/dots.h"
#include "lowering/llvm/products/form.h"
#include "lowering/llvm/products/gemm.h"
#include "lowering/llvm/products/operands.h"
#include "lowering/llvm/products/packed.h"
#include "lowering/llvm/products/tile.h"
#include "lowering/llvm/scalars/arithmetic.h"

namespace rml::codegen {

void emit_matmul(Function& f, ValueId v, ValueId a, ValueId b) {
  if (elements(f.info(v).shape) == 0) return;
  const bool unrolled = f.small(v) && f.small(a) && f.small(b);
  IrValue to = f.result(v);
  const Access access = f.small(v) ? Access{} : separate(f.module.context, 1)[0];
  const DType dtype = f.info(v).dtype;
  each_product(f, v, a, b, unrolled, [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(f, dtype, vector, count, f.offset(dtype, to, at.offset), access);
  });
}

namespace {

void emit_zeros(Function& f, const Product& p, const Sink& sink) {
  auto* zero = llvm::Constant::getNullValue(register_type(f.module.context, p.dtype));
  f.loop(p.m, [&](IrValue i) { f.loop(p.n, [&](IrValue j) { sink(spot(f, p, i, j), zero, 1); }); });
}

// Inner products of each row of A with the columns of B.
void dots_of_rows(Function& f, const Product& p, const Sink& sink) {
  f.loop(p.m, [&](IrValue i) {
    Product row = p;
    row.a = p.b, row.b = f.offset(p.dtype, p.a, strided(f, f.constant(0), i, p.a_row));
    row.c = strided(f, p.c, i, p.n), row.row = i;
    row.m = p.n, row.n = 1;
    row.a_row = p.b_column, row.a_inner = 1, row.b_inner = 1, row.b_column = 0;
    emit_dots(f, row, sink);
  });
}

// The product of a vector and a matrix, in either order.
void packed_constant(Function& f, const Product& p, const Sink& sink) {
  Product row = p.n == 1 ? as_row(p) : p;
  Panels panels{.inner = row.inner, .row = row.b_inner, .n = row.n, .column = row.b_column};
  std::int64_t width = widest_tile(f.module.target, row);
  for (std::int64_t left = row.n; left > 0; width /= 2)
    for (; left >= width; left -= width) panels.widths.push_back(width);
  row.packed = f.module.panels(*p.constant, panels);
  emit_tiles(f, row, sink);
}

}  // namespace

void emit_product(Function& f, const Product& p, const Sink& sink) {
  switch (form_of(p, f.module.target, f.module.numeric)) {
    case ProductForm::nothing:
      return emit_zeros(f, p, sink);
    case ProductForm::constant:
      return packed_constant(f, p, sink);
    case ProductForm::dots:
      return emit_dots(f, p, sink);
    case ProductForm::row:
      return emit_tiles(f, as_row(p), sink);
    case ProductForm::dots_of_rows:
      return dots_of_rows(f, p, sink);
    case ProductForm::gemm:
      return emit_gemm(f, p, sink);
    case ProductForm::tiles:
      return emit_tiles(f, p, sink);
  }
  throw std::logic_error("code generation: a product of an unknown form");
}

namespace {

void packed_product(Function& f, const Product& asked, std::size_t k, const Sink& sink) {
  Product plain = asked;
  plain.c = f.constant(0);
  packed_sum(f, {{asked, k}}, sink, [&] { emit_product(f, plain, sink); });
}

// The matrix of a product with a vector, if it is a constant so large that a sequential layout is faster.
const Tensor* resting(const Function& f, const Product& p, const Matrix& x, const Matrix& y) {
  if ((p.m != 1) == (p.n != 1) || !is_float(p.dtype) || is_half(p.dtype) || f.lanes(p.dtype) == 1) return nullptr;
  if (f.module.options.target.optimization == 0) return nullptr;
  const auto* constant = std::get_if<core::Const>(&f.info(p.m == 1 ? y.value : x.value).rhs);
  const bool far =
      constant != nullptr && static_cast<std::int64_t>(constant->value.bytes()) > f.module.target.constant_bytes();
  return far ? &constant->value : nullptr;
}

// A single sum is computed as several partial sums, to hide the latency of additions.
void product_unrolled(Function& f, const Product& p, ValueId a, ValueId b, const std::vector<IrValue>& at,
                      const Sink& sink) {
  auto& ir = f.ir;
  const auto next = [&](IrValue base, std::int64_t index) { return ir.CreateAdd(base, f.constant(index)); };
  const bool ordered = is_float(p.dtype) && f.module.numeric.strict;
  llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  llvm::FastMathFlags flags = ir.getFastMathFlags();
  flags.setAllowReassoc(false);  // LLVM must not reorder the additions, whose order is chosen here
  ir.setFastMathFlags(flags);
  const bool several = !ordered && p.m * p.n <= 2;
  const std::size_t chains = several ? static_cast<std::size_t>(f.module.numeric.chains_of(p.inner)) : 1;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      std::vector<IrValue> sums(chains);
      for (std::int64_t k = 0; k < p.inner; ++k) {
        IrValue x = f.element(a, next(at[1], i * p.inner + k)), y = f.element(b, next(at[2], k * p.n + j));
        IrValue& sum = sums[static_cast<std::size_t>(k) % sums.size()];
        sum = sum == nullptr ? multiply(f, p.dtype, x, y) : multiply_add(f, p.dtype, x, y, sum);
      }
      for (; sums.size() > 1; sums.resize(sums.size() / 2))
        for (std::size_t k = 0; k < sums.size() / 2; ++k) sums[k] = add(f, p.dtype, sums[k], sums[k + sums.size() / 2]);
      if (p.inner == 0) sums[0] = llvm::Constant::getNullValue(register_type(f.module.context, p.dtype));
      sink({next(at[0], i * p.n + j), f.constant(i), f.constant(j)}, sums[0], 1);
    }
  }
}

}  // namespace

void each_product(Function& f, ValueId v, ValueId a, ValueId b, bool unrolled, const Sink& sink) {
  Matrix x = matrix_of(f, a, !unrolled), y = matrix_of(f, b, !unrolled);
  Product p = product_of(f, v, x, y);
  const Shape batch_a(x.shape.begin(), x.shape.end() - 2), batch_b(y.shape.begin(), y.shape.end() - 2);
  const Shape batch = *rml::broadcast(batch_a, batch_b);
  std::vector<Strides> views = {dense_strides(batch), broadcast_strides(batch_a, batch),
                                broadcast_strides(batch_b, batch)};
  const std::int64_t sizes[] = {p.m * p.n, p.m * p.inner, p.inner * p.n};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::int64_t& stride : views[k]) stride *= sizes[k];
  if (!unrolled) p.a = f.address(x.value), p.b = f.address(y.value);
  if (const auto pack = f.module.packs.of.find(v); pack != f.module.packs.of.end() && !unrolled)
    return packed_product(f, p, pack->second, sink);
  if (!unrolled && elements(batch) == 1) p.constant = resting(f, p, x, y);
  const double each = static_cast<double>(p.m * p.inner * p.n) * nanoseconds_of_product(f, p.dtype);
  // True if a single thread computes each product as a whole.
  const bool whole = elements(batch) >= f.module.target.threads;
  walk(f, batch, views, unrolled, whole ? Work{1, each} : Work{}, [&](const std::vector<IrValue>& at) {
    if (unrolled) return product_unrolled(f, p, x.value, y.value, at, sink);
    Product one = p;
    one.a = f.offset(p.dtype, p.a, at[1]);
    one.b = f.offset(p.dtype, p.b, at[2]);
    one.c = at[0];
    emit_product(f, one, sink);
  });
}

}  // namespace rml::codegen
