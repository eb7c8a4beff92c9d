// Products of a matrix that stands still: by a copy of it in panels (lowering/steps/find_packs.h).
//
//   if the operand lies in the cell:
//     if the copy is not like the cell: for each panel: pack[k][columns] = b[k, columns]
//     for each panel, for each tile of rows: tile         of one row: backwards, every other time
//   else: as of any operand
//
// Whatever writes the cell says first that the copy is not like it. A matrix that does not fit the first-level cache
// and is read for one row at a time is read from where the last time ended, which is still there: the flag is 0 unless
// the copy is like the cell, and 2 where it is read backwards.
#include <algorithm>
#include <utility>

#include "lowering/llvm/function/function.h"

namespace rml::codegen {

std::int64_t Emission::panel_width(const steps::Pack& pack) const {
  return target.row_vectors(pack.rows) * target.lanes(program.cells[pack.cell.index].dtype);
}

// Panels are as wide as the columns that are left, in whole vectors.
std::int64_t Emission::pack_elements(const steps::Pack& pack) const {
  const std::int64_t vector = target.lanes(program.cells[pack.cell.index].dtype);
  return pack.inner * ((pack.n + vector - 1) / vector * vector);
}

std::vector<std::uint64_t> Emission::pack_sizes() const {
  std::vector<std::uint64_t> sizes;
  for (const steps::Pack& p : packs.list)
    sizes.push_back(static_cast<std::uint64_t>(pack_elements(p)) * byte_size(program.cells[p.cell.index].dtype));
  return sizes;
}

void Body::forget_packs(CellId cell) {
  for (std::size_t k = 0; k < module.packs.list.size(); ++k)
    if (module.packs.list[k].cell == cell) ir.CreateStore(ir.getInt8(0), at(module.layout.pack_flags[k]));
}

// In the form C = A B, B the matrix that is packed.
Body::Product Body::with_pack_right(Product p) {
  p.c = constant(0);
  if (p.n != 1) return p;
  std::swap(p.a, p.b);
  p.n = std::exchange(p.m, 1);
  p.turned = true;
  p.b_column = p.a_row;
  std::swap(p.a_inner, p.b_inner);
  p.a_row = 0;
  return p;
}

void Body::packed_product(const Product& asked, std::size_t k, const Sink& sink) {
  Product plain = asked;
  plain.c = constant(0);
  packed_sum({{asked, k}}, sink, [&] { product(plain, sink); });
}

// The product that v is.
Body::PackedTerm Body::packed_term(ValueId v) {
  const auto& operands = std::get<core::Apply>(info(v).rhs).operands;
  Matrix x = matrix(operands[0], true), y = matrix(operands[1], true);
  Product p = product_of(v, x, y);
  p.a = address(x.value), p.b = address(y.value);
  return {p, module.packs.of.at(v)};
}

// void FILLS(b, pack): panel after panel. One for all matrices that lie alike. It needs no scratch, so that this
// function keeps what it has.
llvm::Function* Body::filler(const Product& asked, std::int64_t width) {
  std::string symbol = "fill_" + std::string(name(asked.dtype));
  for (const std::int64_t number : {asked.inner, asked.n, asked.b_inner, asked.b_column, width})
    symbol += "_" + std::to_string(number);
  if (llvm::Function* known = module.module.getFunction(symbol)) return known;
  auto* f = module.function(symbol, ir.getVoidTy(), {module.pointer(), module.pointer()}, false);
  for (unsigned k = 0; k < 2; ++k) f->addParamAttr(k, llvm::Attribute::NoAlias);
  const llvm::IRBuilder<>::InsertPointGuard guard(ir);
  auto* const outer_function = std::exchange(function_, f);
  auto* const outer_subprogram = std::exchange(subprogram_, module.debug.begin(*f, symbol, here_));
  ir.SetInsertPoint(llvm::BasicBlock::Create(module.context, "entry", f));
  locate(here_);
  Product p = asked;
  p.b = f->getArg(0);
  const std::int64_t vector = lanes(p.dtype);
  each_tile({}, p.n, width, [&](IrValue column, std::int64_t columns) {
    IrValue panel = offset(p.dtype, f->getArg(1), place(constant(0), column, p.inner));
    fill_panel(p, panel, column, columns, (columns + vector - 1) / vector * vector);
  });
  ir.CreateRetVoid();
  function_ = outer_function, subprogram_ = outer_subprogram;
  return f;
}

// Where it is not like its cell.
void Body::fill_pack(const PackedTerm& t) {
  const Product& p = t.product;
  IrValue flag = at(module.layout.pack_flags[t.pack]), data = at(module.layout.packs[t.pack]);
  const std::int64_t width = module.panel_width(module.packs.list[t.pack]);
  when(ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(0)), [&] {
    ir.CreateCall(filler(p, width), {p.b, data});
    ir.CreateStore(ir.getInt8(1), flag);
  });
}

// The sum of products, of as many rows and columns each, where all packed matrices lie in their cells.
void Body::packed_sum(std::vector<PackedTerm> terms, const Sink& sink, const std::function<void()>& otherwise) {
  IrValue there = nullptr;
  std::int64_t bytes = 0;
  for (PackedTerm& t : terms) {
    t.product = with_pack_right(t.product);
    IrValue in_cell = ir.CreateICmpEQ(t.product.b, cell_address(module.packs.list[t.pack].cell), "in_cell");
    there = there == nullptr ? in_cell : ir.CreateAnd(there, in_cell);
    bytes += t.product.inner * t.product.n * static_cast<std::int64_t>(byte_size(t.product.dtype));
  }
  const Product& p = terms[0].product;
  const std::int64_t width = module.panel_width(module.packs.list[terms[0].pack]), vector = lanes(p.dtype);
  const std::int64_t panels = (p.n + width - 1) / width,
                     rows = p.m <= Target::few_rows ? p.m : std::min(module.target.tile_rows(p.dtype), p.m);
  double each = 0;
  for (const PackedTerm& t : terms) each += static_cast<double>(width) * nanoseconds_of_sum(t.product, p.m);
  const auto sums = [&] {
    for (const PackedTerm& t : terms) fill_pack(t);
    IrValue back = nullptr;
    if (p.m == 1 && p.n % width == 0 && !splits(panels, each) && bytes > module.target.near_bytes) {
      IrValue flag = at(module.layout.pack_flags[terms[0].pack]);
      back = ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(2), "back");
      ir.CreateStore(ir.CreateSelect(back, ir.getInt8(1), ir.getInt8(2)), flag);
    }
    parallel(panels, each, [&](const Rounds& some) {
      each_tile(some, p.n, width, [&](IrValue column, std::int64_t columns) {
        if (back != nullptr) column = ir.CreateSelect(back, ir.CreateSub(constant(p.n - width), column), column);
        Terms all;
        for (const PackedTerm& t : terms) {
          IrValue panel = offset(p.dtype, at(module.layout.packs[t.pack]), place(constant(0), column, t.product.inner));
          const std::int64_t wide = (columns + vector - 1) / vector * vector;
          all.push_back({&t.product, {panel, constant(0), wide, 1, columns, wide, column}});
        }
        const Panel first = all[0].second;
        all.erase(all.begin());
        each_tile({}, p.m, rows, [&](IrValue i, std::int64_t height) { tile(p, first, i, height, sink, all); });
      });
    });
  };
  when(there, sums, otherwise);
}

// Another leaf that is a packed product of one row, too, where the expression looks at nothing but the sum of both;
// SIZE_MAX: none.
std::size_t Body::summed_leaf(const Expression& e, std::size_t product, const Shape& shape) const {
  std::vector<std::vector<std::size_t>> users(e.nodes.size());
  for (std::size_t k = 0; k < e.nodes.size(); ++k)
    for (const std::size_t o : e.nodes[k].operands) users[o].push_back(k);
  // The sums that a leaf is nothing but a term of, from the innermost on.
  const auto sums = [&](std::size_t leaf) {
    std::vector<std::size_t> found;
    auto k = static_cast<std::size_t>(std::ranges::find(e.nodes, leaf, &Expression::Node::leaf) - e.nodes.begin());
    while (k < e.nodes.size() && users[k].size() == 1) {
      k = users[k][0];
      const auto& apply = std::get<core::Apply>(info(e.nodes[k].value).rhs);
      const OperatorInfo& op = operators()[apply.op];
      const bool reshapes = op.lowering == Lowering::reshape;
      if (!reshapes && (op.lowering != Lowering::elementwise || op.scalar != ScalarOp::add)) break;
      if (!reshapes) found.push_back(k);
    }
    return found;
  };
  const auto packed_row = [&](ValueId v) {
    const auto at = module.packs.of.find(v);
    return at != module.packs.of.end() && module.packs.list[at->second].rows == 1;
  };
  if (!packed_row(e.leaves[product].value)) return SIZE_MAX;
  const std::vector<std::size_t> of_product = sums(product);
  for (std::size_t k = 0; k < e.leaves.size(); ++k) {
    const ValueId v = e.leaves[k].value;
    if (k == product || !module.inlined(v) || !packed_row(v) || !can_be_epilogue(e, k, shape)) continue;
    for (const std::size_t sum : sums(k))
      if (std::ranges::find(of_product, sum) != of_product.end()) return k;
  }
  return SIZE_MAX;
}

}  // namespace rml::codegen
