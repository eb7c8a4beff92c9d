// Emits concatenations and slices as walks (copies.h). A reshape or an index of a large tensor is only an address in
// it.
#include "lowering/llvm/operators/structure.h"

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/function/walk.h"
#include "lowering/llvm/operators/copies.h"
#include "runtime/base/rmlrt.h"
#include "semantics/core/queries.h"

namespace rml::codegen {

void emit_reshape(Function& f, ValueId v, ValueId x) {
  f.prepare(x);
  if (!f.small(v)) return f.define_at(v, f.address(x));
  IrValue to = f.result(v);
  for (std::int64_t i = 0; i < elements(f.info(v).shape); ++i) {
    f.store(f.info(v).dtype, f.element(x, f.constant(i)), f.offset(f.info(v).dtype, to, f.constant(i)));
  }
}

namespace {

// Stores the new rows at both of their places, and advances the place where the value begins.
void move_window(Function& f, ValueId v, const steps::Window& w) {
  auto& ir = f.ir;
  const Shape& shape = f.info(v).shape;
  const std::uint64_t offset = f.module.layout.cells[w.cell.index];
  const auto all = static_cast<std::int64_t>(bytes(f.info(v).dtype, shape)), moved = all / shape[0] * w.rows;
  IrValue data = f.at(offset + sizeof(rml_window)), before = f.load_i64(offset), now = nullptr;
  const auto number = [&](std::int64_t n) { return ir.getInt64(static_cast<std::uint64_t>(n)); };
  const auto place = [&](IrValue bytes) { return ir.CreateInBoundsGEP(ir.getInt8Ty(), data, bytes); };
  if (w.newest_first) {
    IrValue wraps = ir.CreateICmpEQ(before, number(0));
    now = ir.CreateSub(ir.CreateSelect(wraps, number(all), before), number(moved), "now", true, true);
  } else {
    IrValue next = ir.CreateAdd(before, number(moved), "", true, true);
    now = ir.CreateSelect(ir.CreateICmpEQ(next, number(all)), number(0), next, "now");
  }
  IrValue entering = w.newest_first ? now : before;
  copy_into(f, v, place(entering), 0, dense_strides(shape), w.entering);
  const llvm::Align align(byte_size(f.info(v).dtype));
  ir.CreateMemCpy(place(ir.CreateAdd(entering, number(all), "", true, true)), align, place(entering), align,
                  static_cast<std::uint64_t>(moved));
  f.store_i64(now, offset);
  f.define_at(v, place(now));
}

}  // namespace

void emit_concat(Function& f, ValueId v, const core::Apply& a) {
  if (const auto window = f.module.windows.find(v); window != f.module.windows.end())
    return move_window(f, v, window->second);
  const std::size_t axis = *normalized_axis(a.attributes[0].integers[0], f.info(v).shape.size());
  const Strides to = dense_strides(f.info(v).shape);
  IrValue base = f.result(v);
  std::int64_t begin = 0;
  for (const ValueId x : a.operands) {
    copy_into(f, v, base, begin * to[axis], to, x);
    begin += f.info(x).shape[axis];
  }
}

void emit_array(Function& f, ValueId v, const core::Apply& a) {
  IrValue base = f.result(v);
  std::int64_t begin = 0;
  for (const ValueId x : a.operands) {
    copy_into(f, v, base, begin, dense_strides(f.info(x).shape), x);
    begin += elements(f.info(x).shape);
  }
}

namespace {

// The first of the sliced elements in the whole tensor, and the strides.
std::pair<std::int64_t, Strides> sliced(const Shape& whole, std::span<const Attribute> bounds) {
  const auto ranges = std::get<0>(slice_ranges(whole, bounds));
  Strides strides = dense_strides(whole);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    offset += ranges[axis].start * strides[axis];
    strides[axis] *= ranges[axis].step;
  }
  return {offset, strides};
}

}  // namespace

void emit_place_slice(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  f.prepare(x);
  const auto [offset, strides] = sliced(f.info(v).shape, std::span(a.attributes).subspan(1));
  IrValue to = f.result(v);
  fill_zero(f, v, to);
  const Shape& shape = f.info(x).shape;
  copy_strided(f, shape, f.info(v).dtype, to, f.constant(offset), strides, x, f.constant(0), dense_strides(shape));
}

namespace {

// The offset, in elements, of whole[operands[1], operands[2], …]; each index is checked.
IrValue checked_offset(Function& f, ValueId v, const Shape& whole, const std::vector<ValueId>& operands) {
  auto& ir = f.ir;
  const Strides strides = dense_strides(whole);
  IrValue offset = ir.getInt64(0);
  for (std::size_t k = 1; k < operands.size(); ++k) {
    const DType dtype = f.info(operands[k]).dtype;
    IrValue at = ir.CreateIntCast(f.scalar(operands[k]), f.module.i64(), is_signed(dtype));
    auto* extent = ir.getInt64(static_cast<std::uint64_t>(whole[k - 1]));
    f.check(ir.CreateICmpUGE(at, extent), RML_FAULT_INDEX, f.module.site(v), at, extent);
    offset =
        ir.CreateAdd(offset, ir.CreateMul(at, ir.getInt64(static_cast<std::uint64_t>(strides[k - 1])), "", true, true),
                     "", true, true);
  }
  return ir.CreateIntCast(offset, f.module.index_type(), true);
}

}  // namespace

void emit_index(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  f.prepare(x);
  IrValue from = checked_offset(f, v, f.info(x).shape, a.operands);
  if (!f.small(v)) return f.define_at(v, f.offset(f.info(x).dtype, f.address(x), from));
  const Shape& shape = f.info(v).shape;
  copy_strided(f, shape, f.info(v).dtype, f.result(v), f.constant(0), dense_strides(shape), x, from,
               dense_strides(shape));
}

void emit_place(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  f.prepare(x);
  IrValue at = checked_offset(f, v, f.info(v).shape, a.operands);
  IrValue to = f.result(v);
  fill_zero(f, v, to);
  const Shape& shape = f.info(x).shape;
  copy_strided(f, shape, f.info(v).dtype, to, at, dense_strides(shape), x, f.constant(0), dense_strides(shape));
}

void emit_iota(Function& f, ValueId v) {
  auto& ir = f.ir;
  IrValue to = f.result(v);
  walk(f, f.info(v).shape, {{1}}, f.small(v), [&](const std::vector<IrValue>& at) {
    f.store(DType::i32, ir.CreateIntCast(at[0], f.module.i32(), true), f.offset(DType::i32, to, at[0]));
  });
}

void emit_one_hot(Function& f, ValueId v, ValueId at) {
  auto& ir = f.ir;
  f.prepare(at);
  const DType dtype = f.info(v).dtype;
  const std::int64_t depth = f.info(v).shape.back(), count = elements(f.info(at).shape);
  llvm::Type* type = register_type(f.module.context, dtype);
  auto* one =
      is_float(dtype) ? static_cast<llvm::Constant*>(llvm::ConstantFP::get(type, 1)) : llvm::ConstantInt::get(type, 1);
  IrValue to = f.result(v);
  const std::vector<Access> access = f.small(v) ? std::vector<Access>(2) : separate(f.module.context, 2);
  walk(f, {count, depth}, {{depth, 1}, {1, 0}, {0, 1}}, f.small(v), [&](const std::vector<IrValue>& i) {
    IrValue hot = ir.CreateIntCast(f.element(at, i[1], f.info(at).shape.empty() ? Access{} : access[1]), f.module.i64(),
                                   is_signed(f.info(at).dtype));
    IrValue here = ir.CreateIntCast(i[2], f.module.i64(), false);
    f.store(dtype, ir.CreateSelect(ir.CreateICmpEQ(hot, here), one, llvm::Constant::getNullValue(type)),
            f.offset(dtype, to, i[0]), access[0]);
  });
}

}  // namespace rml::codegen
