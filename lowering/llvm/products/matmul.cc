// Products of matrices and vectors: which loops compute them, and where the results go.
//
// A product is C[m, n] = sum over k of A[m, k] B[k, n], where A and B are views with strides, so that a
// transposed operand is read where it lies. Vectors run across elements of C wherever B, or A for a
// single column, lies so; only where the inner index is the one that is contiguous do they run along it
// (dots.cc). Large products go through packed panels and tiles of registers (gemm.cc).
//
// What leaves the registers, a few neighbouring elements of C at a time, is handed to a sink: it is
// stored, or an elementwise expression is computed from it (a bias, an activation, the step of a
// parameter), and the product itself is never in memory.
//
// Single products are contracted into the sums, and sums along vectors have the order of their lanes,
// unless strict_math asks for the increasing order of k.
#include <algorithm>

#include "lowering/llvm/function/function.h"
#include "semantics/core/queries.h"

namespace rml::codegen {

std::int64_t Body::lanes(DType dtype) const { return module.target.lanes(dtype); }

IrValue Body::multiply_add(DType dtype, IrValue a, IrValue b, IrValue sum) {
  if (is_float(dtype) && !module.numeric.strict)
    return ir.CreateIntrinsic(llvm::Intrinsic::fmuladd, {a->getType()}, {a, b, sum});
  return add(dtype, sum, multiply(dtype, a, b));
}

// Neutral for sums: to the bit, also of -0.0.
IrValue Body::no_terms(DType dtype, llvm::Type* type) {
  return is_float(dtype) ? llvm::ConstantFP::getNegativeZero(type) : llvm::Constant::getNullValue(type);
}

IrValue Body::place(IrValue base, IrValue index, std::int64_t stride) {
  if (stride == 0) return base;
  IrValue step = stride == 1 ? index : ir.CreateMul(index, constant(stride), "", true, true);
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(base);
  return known != nullptr && known->isZero() ? step : ir.CreateAdd(base, step, "", true, true);
}

// The operand's elements and its last two axes' strides; one that is transposed only here is not prepared.
Body::Matrix Body::matrix(ValueId v, bool transposable) {
  Shape shape = info(v).shape;
  const bool transposed = transposable && module.inlined(v) && is_transposition(v);
  if (transposed) v = std::get<core::Apply>(info(v).rhs).operands[0];
  prepare(v);
  Matrix m{v, shape, shape.size() > 1 ? shape.back() : 1, 1};
  if (transposed) m.row = 1, m.column = shape[shape.size() - 2];
  return m;
}

void Body::matmul(ValueId v, ValueId a, ValueId b) {
  if (elements(info(v).shape) == 0) return;
  const bool unrolled = small(v) && small(a) && small(b);
  IrValue to = result(v);
  const Access access = small(v) ? Access{} : separate(1)[0];
  const DType dtype = info(v).dtype;
  products(v, a, b, unrolled, [&](const Spot& at, IrValue vector, std::int64_t count) {
    store_elements(dtype, vector, count, offset(dtype, to, at.offset), access);
  });
}

// Of two matrices, the last axes of the operands; they get their missing axes.
Body::Product Body::product_of(ValueId v, Matrix& x, Matrix& y) const {
  if (x.shape.size() == 1) {
    x.shape.insert(x.shape.begin(), 1);
    x.row = 0, x.column = 1;
  }
  if (y.shape.size() == 1) {
    y.shape.push_back(1);
    y.row = 1, y.column = 0;
  }
  Product p;
  p.dtype = info(v).dtype;
  p.m = x.shape[x.shape.size() - 2], p.inner = x.shape.back(), p.n = y.shape.back();
  p.a_row = x.row, p.a_inner = x.column, p.b_inner = y.row, p.b_column = y.column;
  return p;
}

// Calls the sink for all elements of the product a b, which has v's shape.
void Body::products(ValueId v, ValueId a, ValueId b, bool unrolled, const Sink& sink) {
  Matrix x = matrix(a, !unrolled), y = matrix(b, !unrolled);
  Product p = product_of(v, x, y);
  const Shape batch_a(x.shape.begin(), x.shape.end() - 2), batch_b(y.shape.begin(), y.shape.end() - 2);
  const Shape batch = *rml::broadcast(batch_a, batch_b);
  std::vector<Strides> views = {dense_strides(batch), broadcast_strides(batch_a, batch),
                                broadcast_strides(batch_b, batch)};
  const std::int64_t sizes[] = {p.m * p.n, p.m * p.inner, p.inner * p.n};
  for (std::size_t k = 0; k < 3; ++k)
    for (std::int64_t& stride : views[k]) stride *= sizes[k];
  if (!unrolled) p.a = address(x.value), p.b = address(y.value);
  if (const auto pack = module.packs.of.find(v); pack != module.packs.of.end() && !unrolled)
    return packed_product(p, pack->second, sink);
  if (!unrolled && elements(batch) == 1) p.constant = resting(p, x, y);
  const double each = static_cast<double>(p.m * p.inner * p.n) * nanoseconds_of_product(p.dtype);
  const bool whole = elements(batch) >= module.target.threads;  // each product by one thread
  walk(batch, views, unrolled, whole ? Work{1, each} : Work{}, [&](const std::vector<IrValue>& at) {
    if (unrolled) return product_unrolled(p, x.value, y.value, at, sink);
    Product one = p;
    one.a = offset(p.dtype, p.a, at[1]);
    one.b = offset(p.dtype, p.b, at[2]);
    one.c = at[0];
    product(one, sink);
  });
}

// The matrix of a product with a vector, if it is a constant that is read faster from one end to the other.
const Tensor* Body::resting(const Product& p, const Matrix& x, const Matrix& y) const {
  if ((p.m != 1) == (p.n != 1) || !is_float(p.dtype) || is_half(p.dtype) || lanes(p.dtype) == 1) return nullptr;
  if (module.options.target.optimization == 0) return nullptr;
  const auto* constant = std::get_if<core::Const>(&info(p.m == 1 ? y.value : x.value).rhs);
  const bool far =
      constant != nullptr && static_cast<std::int64_t>(constant->value.bytes()) > module.target.constant_bytes();
  return far ? &constant->value : nullptr;
}

// A single sum is computed in several chains, so as not to wait for each addition.
void Body::product_unrolled(const Product& p, ValueId a, ValueId b, const std::vector<IrValue>& at, const Sink& sink) {
  const auto next = [&](IrValue base, std::int64_t index) { return ir.CreateAdd(base, constant(index)); };
  const bool ordered = is_float(p.dtype) && module.numeric.strict;
  llvm::IRBuilder<>::FastMathFlagGuard guard(ir);
  llvm::FastMathFlags flags = ir.getFastMathFlags();
  flags.setAllowReassoc(false);  // this is the best order
  ir.setFastMathFlags(flags);
  const bool several = !ordered && p.m * p.n <= 2;
  const std::size_t chains = several ? static_cast<std::size_t>(module.numeric.chains_of(p.inner)) : 1;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      std::vector<IrValue> sums(chains);
      for (std::int64_t k = 0; k < p.inner; ++k) {
        IrValue x = element(a, next(at[1], i * p.inner + k)), y = element(b, next(at[2], k * p.n + j));
        IrValue& sum = sums[static_cast<std::size_t>(k) % sums.size()];
        sum = sum == nullptr ? multiply(p.dtype, x, y) : multiply_add(p.dtype, x, y, sum);
      }
      for (; sums.size() > 1; sums.resize(sums.size() / 2))
        for (std::size_t k = 0; k < sums.size() / 2; ++k) sums[k] = add(p.dtype, sums[k], sums[k + sums.size() / 2]);
      if (p.inner == 0) sums[0] = llvm::Constant::getNullValue(register_type(module.context, p.dtype));
      sink({next(at[0], i * p.n + j), constant(i), constant(j)}, sums[0], 1);
    }
  }
}

void Body::product(const Product& p, const Sink& sink) {
  const bool strict = module.numeric.strict && is_float(p.dtype);
  if (p.inner == 0) {
    auto* zero = llvm::Constant::getNullValue(register_type(module.context, p.dtype));
    return loop(p.m, [&](IrValue i) { loop(p.n, [&](IrValue j) { sink(spot(p, i, j), zero, 1); }); });
  }
  if (p.constant != nullptr) return packed_constant(p, sink);
  const bool along = !strict && lanes(p.dtype) > 1;
  if (p.n == 1 && p.m == 1 && p.a_inner == 1 && p.b_inner == 1 && along) return dots(p, sink);
  if (p.n == 1 && (p.a_row == 1 || p.m == 1)) {  // a single row: the vector by the matrix as it lies
    Product turned = p;
    std::swap(turned.a, turned.b);
    turned.m = 1, turned.n = p.m, turned.turned = true;
    turned.a_row = 0, turned.a_inner = p.b_inner, turned.b_inner = p.a_inner, turned.b_column = p.a_row;
    return tiles(turned, sink);
  }
  const bool contiguous = p.a_inner == 1 && p.b_inner == 1 && p.inner >= lanes(p.dtype);
  if (p.n == 1 && contiguous && along) return dots(p, sink);
  if (p.m <= Target::few_rows && p.n > 1 && contiguous && along) {
    return loop(p.m, [&](IrValue i) {
      Product row = p;
      row.a = p.b, row.b = offset(p.dtype, p.a, place(constant(0), i, p.a_row));
      row.c = place(p.c, i, p.n), row.row = i;
      row.m = p.n, row.n = 1;
      row.a_row = p.b_column, row.a_inner = 1, row.b_inner = 1, row.b_column = 0;
      dots(row, sink);
    });
  }
  if (p.m > Target::few_rows && p.n > 1) return gemm(p, sink);
  tiles(p, sink);
}

// The vector by the matrix, whichever of the two stands first.
void Body::packed_constant(const Product& p, const Sink& sink) {
  Product turned = p;
  if (p.n == 1) {
    std::swap(turned.a, turned.b);
    turned.m = 1, turned.n = p.m, turned.turned = true;
    turned.a_row = 0, turned.a_inner = p.b_inner, turned.b_inner = p.a_inner, turned.b_column = p.a_row;
  }
  Panels panels{.inner = turned.inner, .row = turned.b_inner, .n = turned.n, .column = turned.b_column};
  std::int64_t width = widest_tile(turned);
  for (std::int64_t left = turned.n; left > 0; width /= 2)
    for (; left >= width; left -= width) panels.widths.push_back(width);
  turned.packed = module.panels(*p.constant, panels);
  tiles(turned, sink);
}

Body::Spot Body::spot(const Product& p, IrValue i, IrValue j) {
  if (p.row != nullptr) return {place(p.c, i, 1), p.row, i};
  if (p.turned) return {place(p.c, j, 1), j, constant(0)};
  return {place(place(p.c, i, p.n), j, 1), i, j};
}

// The first `count` elements, in pieces of powers of two.
void Body::store_elements(DType dtype, IrValue vector, std::int64_t count, IrValue to, Access access) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (type == nullptr) return store(dtype, vector, to, access);
  const auto put = [&](IrValue piece, IrValue at) {
    auto* stored = ir.CreateAlignedStore(piece, at, llvm::Align(byte_size(dtype)));
    mark(stored, access);
  };
  if (type->getNumElements() == count) return put(vector, to);
  for (std::int64_t done = 0; done < count;) {
    std::int64_t size = 1;
    while (size * 2 <= count - done) size *= 2;
    IrValue at = offset(dtype, to, constant(done));
    if (size == 1) {
      put(ir.CreateExtractElement(vector, static_cast<std::uint64_t>(done)), at);
    } else {
      std::vector<int> lanes;
      for (std::int64_t k = 0; k < size; ++k) lanes.push_back(static_cast<int>(done + k));
      put(ir.CreateShuffleVector(vector, lanes), at);
    }
    done += size;
  }
}

bool Body::is_transposition(ValueId v) const { return apply_of(module.core, v, Lowering::transpose) != nullptr; }

}  // namespace rml::codegen
