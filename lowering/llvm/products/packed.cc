// Products of a matrix that rarely changes, by a copy of it in panels (lowering/steps/find_packs.h).
//
//   if the operand is in the cell:
//     if the copy differs from the cell: for each panel: pack[k][columns] = b[k, columns]
//     for each panel, for each tile of rows: tile         of one row: backwards, every other time
//   else: as for any operand
//
// Before a write to the cell, the copy is marked as different. If a matrix exceeds the first-level cache and is read
// for one row at a time, each product begins where the last one ended, because that part is still in the cache. The
// flag is 0 if the copy differs from the cell, and 2 if it is to be read backwards.
#include "lowering/llvm/products/packed.h"

#include <algorithm>
#include <utility>

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/cost.h"
#include "lowering/llvm/products/operands.h"
#include "lowering/llvm/products/panel.h"
#include "lowering/llvm/products/tile.h"

namespace rml::codegen {

PackedTerm packed_term(Function& f, ValueId v) {
  const auto& operands = std::get<core::Apply>(f.info(v).rhs).operands;
  Matrix x = matrix_of(f, operands[0], true), y = matrix_of(f, operands[1], true);
  Product p = product_of(f, v, x, y);
  p.a = f.address(x.value), p.b = f.address(y.value);
  return {p, f.module.packs.of.at(v)};
}

namespace {

// The product in the form C = A B, where B is the packed matrix.
Product with_pack_right(Function& f, Product p) {
  p.c = f.constant(0);
  return p.n == 1 ? as_row(p) : p;
}

// Emits void FILLS(b, pack), which copies panel after panel. Matrices of the same layout share the function, and it is
// not inlined: it is called only when a matrix has changed, and copies of it would take long to compile. It needs no
// scratch, so the caller's scratch stays valid.
llvm::Function* filler(Function& f, const Product& asked, std::int64_t width) {
  auto& ir = f.ir;
  std::string symbol = "fill_" + std::string(name(asked.dtype));
  for (const std::int64_t number : {asked.inner, asked.n, asked.b_inner, asked.b_column, width})
    symbol += "_" + std::to_string(number);
  if (llvm::Function* known = f.module.module.getFunction(symbol)) return known;
  auto* fills = f.module.function(symbol, ir.getVoidTy(), {f.module.pointer(), f.module.pointer()}, false);
  for (unsigned k = 0; k < 2; ++k) fills->addParamAttr(k, llvm::Attribute::NoAlias);
  fills->addFnAttr(llvm::Attribute::NoInline);
  const llvm::IRBuilder<>::InsertPointGuard guard(ir);
  const Function::Frame outer = f.frame;
  f.frame.function = fills;
  f.frame.subprogram = f.module.debug.begin(*fills, symbol, f.here);
  ir.SetInsertPoint(llvm::BasicBlock::Create(f.module.context, "entry", fills));
  f.locate(f.here);
  Product p = asked;
  p.b = fills->getArg(0);
  const std::int64_t vector = f.lanes(p.dtype);
  each_tile(f, {}, p.n, width, [&](IrValue column, std::int64_t columns) {
    IrValue panel = f.offset(p.dtype, fills->getArg(1), strided(f, f.constant(0), column, p.inner));
    fill_panel(f, p, panel, column, columns, (columns + vector - 1) / vector * vector);
  });
  ir.CreateRetVoid();
  f.frame = outer;
  return fills;
}

// Fills the pack if it differs from its cell.
void fill_pack(Function& f, const PackedTerm& t) {
  auto& ir = f.ir;
  const Product& p = t.product;
  IrValue flag = f.at(f.module.layout.pack_flags[t.pack]), data = f.at(f.module.layout.packs[t.pack]);
  const std::int64_t width = f.module.panel_width(f.module.packs.list[t.pack]);
  f.when(ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(0)), [&] {
    ir.CreateCall(filler(f, p, width), {p.b, data});
    ir.CreateStore(ir.getInt8(1), flag);
  });
}

}  // namespace

void packed_sum(Function& f, std::vector<PackedTerm> terms, const Sink& sink, const std::function<void()>& otherwise) {
  auto& ir = f.ir;
  IrValue there = nullptr;
  std::int64_t bytes = 0;
  for (PackedTerm& t : terms) {
    t.product = with_pack_right(f, t.product);
    IrValue in_cell = ir.CreateICmpEQ(t.product.b, f.cell_address(f.module.packs.list[t.pack].cell), "in_cell");
    there = there == nullptr ? in_cell : ir.CreateAnd(there, in_cell);
    bytes += t.product.inner * t.product.n * static_cast<std::int64_t>(byte_size(t.product.dtype));
  }
  const Product& p = terms[0].product;
  const std::int64_t width = f.module.panel_width(f.module.packs.list[terms[0].pack]), vector = f.lanes(p.dtype);
  const std::int64_t panels = (p.n + width - 1) / width,
                     rows = p.m <= Target::few_rows ? p.m : std::min(f.module.target.tile_rows(p.dtype), p.m);
  double each = 0;
  for (const PackedTerm& t : terms) each += static_cast<double>(width) * nanoseconds_of_sum(f, t.product, p.m);
  const auto sums = [&] {
    for (const PackedTerm& t : terms) fill_pack(f, t);
    IrValue back = nullptr;
    if (p.m == 1 && p.n % width == 0 && !splits(f, panels, each) && bytes > f.module.target.near_bytes) {
      IrValue flag = f.at(f.module.layout.pack_flags[terms[0].pack]);
      back = ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(2), "back");
      ir.CreateStore(ir.CreateSelect(back, ir.getInt8(1), ir.getInt8(2)), flag);
    }
    parallel(f, panels, each, [&](const Rounds& some) {
      each_tile(f, some, p.n, width, [&](IrValue column, std::int64_t columns) {
        if (back != nullptr) column = ir.CreateSelect(back, ir.CreateSub(f.constant(p.n - width), column), column);
        Terms all;
        for (const PackedTerm& t : terms) {
          IrValue panel = f.offset(p.dtype, f.at(f.module.layout.packs[t.pack]),
                                   strided(f, f.constant(0), column, t.product.inner));
          const std::int64_t wide = (columns + vector - 1) / vector * vector;
          all.push_back({&t.product, {panel, f.constant(0), wide, 1, columns, wide, column}});
        }
        const Panel first = all[0].second;
        all.erase(all.begin());
        each_tile(f, {}, p.m, rows,
                  [&](IrValue i, std::int64_t height) { emit_tile(f, p, first, i, height, sink, all); });
      });
    });
  };
  f.when(there, sums, otherwise);
}

}  // namespace rml::codegen
