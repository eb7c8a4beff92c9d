// Products of a matrix that stands still: by a copy of it in panels (lowering/find_packs.h).
//
//   if the operand lies in the cell:
//     if the copy is not like the cell: for each panel: pack[k][columns] = b[k, columns]
//     for each panel, for each tile of rows: tile         of one row: backwards, every other time
//   else: as of any operand
//
// Whatever writes the cell says first that the copy is not like it. A matrix that does not fit the first-level cache
// and is read for one row at a time is read from where the last time ended, which is still there: the flag is 0 unless
// the copy is like the cell, and 2 where it is read backwards.
#include "lowering/llvm/body.h"

namespace rml::codegen {

namespace {
constexpr std::int64_t nearest_bytes = 32 * 1024;  // of a first-level cache
}  // namespace

std::int64_t Emission::panel_width(const Pack& pack) const {
  const std::int64_t vectors = pack.rows == 1 ? 8 : pack.rows == 2 ? 4 : 2;
  return vectors * lanes(program.cells[pack.cell.index].dtype);
}

// Panels are as wide as the columns that are left, in whole vectors.
std::int64_t Emission::pack_elements(const Pack& pack) const {
  const std::int64_t vector = lanes(program.cells[pack.cell.index].dtype);
  return pack.inner * ((pack.n + vector - 1) / vector * vector);
}

std::vector<std::uint64_t> Emission::pack_sizes() const {
  std::vector<std::uint64_t> sizes;
  for (const Pack& p : packs.list)
    sizes.push_back(static_cast<std::uint64_t>(pack_elements(p)) * byte_size(program.cells[p.cell.index].dtype));
  return sizes;
}

void Body::forget_packs(CellId cell) {
  for (std::size_t k = 0; k < module.packs.list.size(); ++k)
    if (module.packs.list[k].cell == cell) ir.CreateStore(ir.getInt8(0), at(module.layout.pack_flags[k]));
}

// In the form C = A B, B the matrix that is packed.
void Body::packed_product(const Product& asked, std::size_t k, const Sink& sink) {
  const Pack& pack = module.packs.list[k];
  Product p = asked;
  p.c = constant(0);
  Product plain = p;
  if (asked.n == 1) {
    std::swap(p.a, p.b);
    p.m = 1, p.n = asked.m, p.turned = true;
    p.a_row = 0, p.a_inner = asked.b_inner, p.b_inner = asked.a_inner, p.b_column = asked.a_row;
  }
  const std::int64_t width = module.panel_width(pack), vector = lanes(p.dtype);
  const std::int64_t panels = (p.n + width - 1) / width;
  const double each = static_cast<double>(width) * nanoseconds_of_sum(p, p.m);
  const auto size = static_cast<std::int64_t>(byte_size(p.dtype));
  const bool turns = p.m == 1 && p.n % width == 0 && !splits(panels, each) && p.inner * p.n * size > nearest_bytes;
  IrValue there = ir.CreateICmpEQ(p.b, cell_address(pack.cell), "in_cell");
  when(
      there,
      [&] {
        IrValue flag = at(module.layout.pack_flags[k]), data = at(module.layout.packs[k]);
        IrValue back = nullptr;
        using Panels = std::function<void(IrValue, IrValue, std::int64_t, std::int64_t)>;
        const auto each_panel = [&](const Rounds& some, const Panels& body) {
          each_tile(some, p.n, width, [&](IrValue column, std::int64_t columns) {
            if (back != nullptr) column = ir.CreateSelect(back, ir.CreateSub(constant(p.n - width), column), column);
            IrValue panel = offset(p.dtype, data, place(constant(0), column, p.inner));
            body(panel, column, columns, (columns + vector - 1) / vector * vector);
          });
        };
        when(ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(0)), [&] {
          each_panel({}, [&](IrValue panel, IrValue column, std::int64_t columns, std::int64_t wide) {
            fill_panel(p, panel, column, columns, wide);
          });
          ir.CreateStore(ir.getInt8(1), flag);
        });
        if (turns) {
          back = ir.CreateICmpEQ(ir.CreateLoad(ir.getInt8Ty(), flag), ir.getInt8(2), "back");
          ir.CreateStore(ir.CreateSelect(back, ir.getInt8(1), ir.getInt8(2)), flag);
        }
        const std::int64_t rows = p.m <= 4 ? p.m : std::min(tile_rows(p.dtype), p.m);
        parallel(panels, each, [&](const Rounds& some) {
          each_panel(some, [&](IrValue panel, IrValue column, std::int64_t columns, std::int64_t wide) {
            each_tile({}, p.m, rows, [&](IrValue i, std::int64_t height) {
              tile(p, {panel, constant(0), wide, 1, columns, wide, column}, i, height, sink);
            });
          });
        });
      },
      [&] { product(plain, sink); });
}

}  // namespace rml::codegen
