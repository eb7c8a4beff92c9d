// Emits take and sum_take as loops over the indices, and dynamic slices as copies. Each index is counted from 0 and
// checked, then the elements that it stands for are copied or added:
//
//   y = take(x, i)       for k: at = i[k] < 0 ? i[k] + extent : i[k];  check at;  y[…, k, …] = x[…, at, …]
#include "lowering/llvm/operators/places.h"

#include <algorithm>
#include <iterator>

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/function/walk.h"
#include "lowering/llvm/operators/copies.h"
#include "lowering/llvm/scalars/arithmetic.h"
#include "lowering/microcontroller.h"
#include "runtime/base/rmlrt.h"
#include "semantics/operators/operator.h"

namespace rml::codegen {

namespace {

constexpr std::int64_t most_indices = 16;  // with more of them a call of the kernel is negligible

// The index at this place among the indices, counted from 0.
IrValue checked_index(Function& f, ValueId v, ValueId indices, IrValue place, std::int64_t extent) {
  auto& ir = f.ir;
  const Value& of = f.info(indices);
  IrValue written = of.shape.empty() ? f.scalar(indices) : f.element(indices, place);
  written = ir.CreateIntCast(written, f.module.i64(), is_signed(of.dtype));
  auto* bound = ir.getInt64(static_cast<std::uint64_t>(extent));
  IrValue negative = ir.CreateICmpSLT(written, ir.getInt64(0));
  IrValue index = ir.CreateSelect(negative, ir.CreateAdd(written, bound), written);
  f.check(ir.CreateICmpUGE(index, bound), RML_FAULT_INDEX, f.module.site(v), written, bound);
  return ir.CreateIntCast(index, f.module.index_type(), true);
}

// Calls body(offset of index k among the parts, offset of its place in the whole).
template <class Body>
void each_index(Function& f, ValueId v, ValueId indices, const AxisLines& lines, const Body& body) {
  auto& ir = f.ir;
  const auto visit = [&](IrValue k) {
    IrValue at = checked_index(f, v, indices, k, lines.extent);
    body(ir.CreateMul(k, f.constant(lines.after), "", true, true),
         ir.CreateMul(at, f.constant(lines.after), "", true, true));
  };
  const std::int64_t count = elements(f.info(indices).shape);
  if (count == 1) return visit(f.constant(0));
  f.loop(count, visit);
}

void emit_take(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0], i = a.operands[1];
  f.prepare(x), f.prepare(i);
  const AxisLines lines(f.info(x).shape, a.attributes[0]);
  const std::int64_t count = elements(f.info(i).shape);
  IrValue to = f.result(v);
  each_index(f, v, i, lines, [&](IrValue part, IrValue whole) {
    copy_strided(f, {lines.before, lines.after}, f.info(v).dtype, to, part, {count * lines.after, 1}, x, whole,
                 {lines.extent * lines.after, 1});
  });
}

void emit_sum_take(Function& f, ValueId v, const core::Apply& a) {
  auto& ir = f.ir;
  const ValueId x = a.operands[0], i = a.operands[1];
  f.prepare(x), f.prepare(i);
  const DType dtype = f.info(v).dtype;
  const AxisLines lines(f.info(v).shape, a.attributes[1]);
  const std::int64_t count = elements(f.info(i).shape);
  IrValue to = f.result(v);
  fill_zero(f, v, to);
  const Shape part_shape = {lines.before, lines.after};
  const std::vector<Strides> views = {{lines.extent * lines.after, 1}, {count * lines.after, 1}};
  each_index(f, v, i, lines, [&](IrValue part, IrValue whole) {
    walk(f, part_shape, views, f.small(part_shape), [&](const std::vector<IrValue>& at) {
      IrValue place = f.offset(dtype, to, ir.CreateAdd(whole, at[0], "", true, true));
      IrValue more = f.element(x, ir.CreateAdd(part, at[1], "", true, true));
      f.store(dtype, add(f, dtype, f.load(dtype, place), more), place);
    });
  });
}

// The offset of a part that begins at these places, each of which is checked.
IrValue checked_start(Function& f, ValueId v, const Shape& whole, const Shape& part, ValueId starts) {
  auto& ir = f.ir;
  f.prepare(starts);
  const Strides strides = dense_strides(whole);
  IrValue offset = ir.getInt64(0);
  for (std::size_t k = 0; k < static_cast<std::size_t>(f.info(starts).shape[0]); ++k) {
    IrValue at = f.element(starts, f.constant(static_cast<std::int64_t>(k)));
    at = ir.CreateIntCast(at, f.module.i64(), is_signed(f.info(starts).dtype));
    auto* bound = ir.getInt64(static_cast<std::uint64_t>(whole[k] - part[k] + 1));
    f.check(ir.CreateICmpUGE(at, bound), RML_FAULT_INDEX, f.module.site(v), at, bound);
    IrValue step = ir.CreateMul(at, ir.getInt64(static_cast<std::uint64_t>(strides[k])), "", true, true);
    offset = ir.CreateAdd(offset, step, "", true, true);
  }
  return ir.CreateIntCast(offset, f.module.index_type(), true);
}

void emit_dynamic_slice(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  f.prepare(x);
  const Shape &whole = f.info(x).shape, &part = f.info(v).shape;
  IrValue from = checked_start(f, v, whole, part, a.operands[1]);
  copy_strided(f, part, f.info(v).dtype, f.result(v), f.constant(0), dense_strides(part), x, from,
               dense_strides(whole));
}

// The result may have the place of the first operand, whose other elements then stay where they are.
void emit_dynamic_update_slice(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0], updates = a.operands[1];
  f.prepare(x), f.prepare(updates);
  const Shape &whole = f.info(v).shape, &part = f.info(updates).shape;
  const DType dtype = f.info(v).dtype;
  IrValue at = checked_start(f, v, whole, part, a.operands[2]);
  IrValue to = f.result(v), from = f.address(x);
  f.when(f.ir.CreateICmpNE(from, to), [&] { f.copy_bytes(to, from, dtype, whole); });
  copy_strided(f, part, dtype, to, at, dense_strides(whole), updates, f.constant(0), dense_strides(part));
}

struct Writer {
  std::string_view name;
  bool by_result;  // true: few elements of the result; false: few elements of the second operand
  void (*emit)(Function&, ValueId, const core::Apply&);
};
constexpr Writer writers[] = {{"take", false, emit_take},
                              {"sum_take", false, emit_sum_take},
                              {"dynamic_slice", true, emit_dynamic_slice},
                              {"dynamic_update_slice", false, emit_dynamic_update_slice}};

}  // namespace

bool emit_places(Function& f, ValueId v, const core::Apply& a) {
  const std::string_view name = operators()[a.op].name;
  const auto* const found = std::ranges::find(writers, name, &Writer::name);
  if (found == std::end(writers)) return false;
  const std::int64_t count = elements(f.info(found->by_result ? v : a.operands[1]).shape);
  if (count > most_indices && !is_microcontroller(f.module.options.target.triple)) return false;
  found->emit(f, v, a);
  return true;
}

}  // namespace rml::codegen
