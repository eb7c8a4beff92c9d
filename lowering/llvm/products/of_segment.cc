// Emits a product over all instants: the blocks of an array are the rows of one matrix.
#include "lowering/llvm/products/of_segment.h"

#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/gemm.h"
#include "lowering/llvm/products/matmul.h"

namespace rml::codegen {

namespace {

// Computes a few rows, for which copying B into panels is not worthwhile.
void rows_into(Function& f, const Product& p, std::int64_t m, IrValue to) {
  auto& ir = f.ir;
  const std::int64_t few = Target::few_rows;
  if (m >= few) return gemm_into(f, p, to);
  const Access access = separate(f.module.context, 1)[0];
  const auto one_by_one = [&] {
    f.loop(ir.CreateUDiv(p.all_m, f.constant(m)), [&](IrValue i) {
      Product one = p;
      one.m = m, one.all_m = nullptr;
      one.a = f.offset(p.dtype, p.a, strided(f, f.constant(0), i, m * p.a_row));
      one.c = strided(f, f.constant(0), i, m * p.n);
      emit_product(f, one, [&](const Spot& at, IrValue vector, std::int64_t count) {
        store_elements(f, p.dtype, vector, count, f.offset(p.dtype, to, at.offset), access);
      });
    });
  };
  f.when(ir.CreateICmpULT(p.all_m, f.constant(few)), one_by_one, [&] { gemm_into(f, p, to); });
}

}  // namespace

void emit_segment_product(Function& f, const steps::SegmentProduct& s) {
  auto& ir = f.ir;
  Product p;
  p.dtype = f.info(s.value).dtype;
  IrValue first = f.position;
  f.position = ir.getInt64(0);
  const auto data = [&](const steps::SegmentMatrix& x) {
    return x.array.valid() ? f.array_address(x.array) : f.address(x.held);
  };
  p.a = data(s.a), p.b = data(s.b), p.c = f.constant(0);
  p.m = s.m, p.inner = s.inner, p.n = s.n;
  p.a_row = s.a.row, p.a_inner = s.a.column, p.b_inner = s.b.row, p.b_column = s.b.column;
  IrValue instants = ir.CreateIntCast(f.length, f.module.index_type(), true);
  constexpr std::int64_t many = INT64_MAX / 2;
  if (f.tells_places) f.enter(f.module.place_of(s.value));
  if (s.rows.valid()) {
    p.all_m = ir.CreateMul(instants, f.constant(s.m), "", true, true);
    p.m = many;
    rows_into(f, p, s.m, f.array_address(s.rows));
  } else {
    p.all_inner = ir.CreateMul(instants, f.constant(s.inner), "", true, true);
    p.inner = many;
    f.forget_packs(s.sum);
    if (s.onto.valid())
      gemm_onto(f, p, f.cell_address(s.sum), f.cell_address(s.onto)), f.forget_packs(s.onto);
    else
      gemm_into(f, p, f.cell_address(s.sum));
  }
  f.position = first;
}

}  // namespace rml::codegen
