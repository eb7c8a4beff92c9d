// Copies panels row by row. If the inner index is contiguous, they are transposed in registers.
#include "lowering/llvm/products/panel.h"

#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

namespace {

// Transposes squares of as many columns as a vector has lanes, if there are as many. Squares at an edge begin earlier
// and move some elements again.
void fill_panel_transposed(Function& f, const Product& p, IrValue pack, IrValue from, std::int64_t columns,
                           std::int64_t width) {
  auto& ir = f.ir;
  const std::int64_t side = std::min(f.lanes(p.dtype), f.module.target.most_transposed);
  auto* type = llvm::FixedVectorType::get(register_type(f.module.context, p.dtype), static_cast<unsigned>(side));
  const llvm::Align align(byte_size(p.dtype));
  const auto square = [&](IrValue k, IrValue j) {
    std::vector<IrValue> vectors;
    for (std::int64_t r = 0; r < side; ++r) {
      IrValue row = strided(f, from, ir.CreateAdd(j, f.constant(r), "", true, true), p.b_column);
      vectors.push_back(
          ir.CreateAlignedLoad(type, f.offset(p.dtype, p.b, ir.CreateAdd(row, k, "", true, true)), align));
    }
    transpose_squares(f, vectors);
    for (std::int64_t r = 0; r < side; ++r) {
      IrValue to = strided(f, j, ir.CreateAdd(k, f.constant(r), "", true, true), width);
      ir.CreateAlignedStore(vectors[static_cast<std::size_t>(r)], f.offset(p.dtype, pack, to), align);
    }
  };
  const auto each = [&](std::int64_t extent, const std::function<void(IrValue)>& body) {
    f.loop(extent / side, [&](IrValue i) { body(ir.CreateMul(i, f.constant(side), "", true, true)); });
    if (extent % side != 0) body(f.constant(extent - side));
  };
  each(p.inner, [&](IrValue k) { each(columns, [&](IrValue j) { square(k, j); }); });
}

}  // namespace

void fill_panel(Function& f, const Product& p, IrValue pack, IrValue column, std::int64_t columns, std::int64_t width) {
  auto& ir = f.ir;
  auto* scalar_type = memory_type(f.module.context, p.dtype);
  const llvm::Align align(byte_size(p.dtype));
  IrValue from = strided(f, f.constant(0), column, p.b_column);
  const std::vector<Access> access = separate(f.module.context, 2);
  const auto move = [&](IrValue k, IrValue j) {
    IrValue value =
        f.load(p.dtype, f.offset(p.dtype, p.b, strided(f, strided(f, from, k, p.b_inner), j, p.b_column)), access[1]);
    f.store(p.dtype, value, f.offset(p.dtype, pack, strided(f, j, k, width)), access[0]);
  };
  IrValue inner = p.all_inner != nullptr ? p.all_inner : f.constant(p.inner);
  if (columns < width) {
    IrValue row = f.constant(width * static_cast<std::int64_t>(byte_size(p.dtype)));
    ir.CreateMemSet(pack, ir.getInt8(0), ir.CreateMul(inner, row), align);
  }
  if (p.b_column == 1 && columns == width && width > 1) {
    auto* type = llvm::FixedVectorType::get(scalar_type, static_cast<unsigned>(width));
    f.loop(inner, [&](IrValue k) {
      auto* value = ir.CreateAlignedLoad(type, f.offset(p.dtype, p.b, strided(f, from, k, p.b_inner)), align);
      ir.CreateAlignedStore(value, f.offset(p.dtype, pack, strided(f, f.constant(0), k, width)), align);
    });
  } else if (p.all_inner == nullptr && p.b_inner == 1 && columns >= f.lanes(p.dtype) && f.lanes(p.dtype) > 1 &&
             p.inner >= f.lanes(p.dtype)) {
    fill_panel_transposed(f, p, pack, from, columns, width);
  } else {
    f.loop(inner, [&](IrValue k) { f.loop(columns, [&](IrValue j) { move(k, j); }); });
  }
}

}  // namespace rml::codegen
