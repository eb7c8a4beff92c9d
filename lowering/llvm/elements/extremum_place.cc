// Emits one walk over the searched axis, with the best element and its place so far in variables.
#include "lowering/llvm/elements/extremum_place.h"

#include "lowering/llvm/function/walk.h"
#include "lowering/llvm/scalars/arithmetic.h"

namespace rml::codegen {

// The first extremum or, with `last`, the last one; a NaN counts as an extremum. The operand is viewed as [before,
// searched, after].
void emit_extremum_place(Function& f, ValueId v, const core::Apply& apply, bool maximum) {
  auto& ir = f.ir;
  const ValueId x = apply.operands[0];
  f.prepare(x);
  const DType dtype = f.info(x).dtype;
  const Shape& shape = f.info(x).shape;
  if (elements(f.info(v).shape) == 0) return;
  std::int64_t searched = elements(shape), after = 1;
  if (apply.attributes[0].given) {
    const std::size_t axis = *normalized_axis(apply.attributes[0].integers[0], shape.size());
    searched = shape[axis];
    for (std::size_t k = axis + 1; k < shape.size(); ++k) after *= shape[k];
  }
  const std::int64_t before = elements(f.info(v).shape) / after;
  llvm::Type* type = register_type(f.module.context, dtype);
  auto* best = f.variable(f.module.i32(), "best");
  auto* extreme = f.variable(type, "extreme");
  IrValue to = f.result(v);
  const bool last = apply.attributes[2].integers[0] != 0;
  const ScalarOp before_others =
      last ? (maximum ? ScalarOp::ge : ScalarOp::le) : (maximum ? ScalarOp::gt : ScalarOp::lt);
  const auto better = [&](IrValue candidate, IrValue so_far) -> IrValue {
    IrValue wins = comparison(f, before_others, dtype, candidate, so_far);
    if (!is_float(dtype)) return wins;
    IrValue nan = ir.CreateFCmpUNO(candidate, candidate);
    if (last) return ir.CreateOr(wins, nan);  // a candidate that is NaN wins; it is unordered with every number
    return ir.CreateAnd(ir.CreateOr(wins, nan), ir.CreateFCmpORD(so_far, so_far));
  };
  walk(f, {before, after}, {{after, 1}, {searched * after, 1}}, f.small(shape), [&](const std::vector<IrValue>& at) {
    ir.CreateStore(ir.getInt32(0), best);
    ir.CreateStore(f.element(x, at[1]), extreme);
    walk(f, {searched - 1}, {{1}, {after}}, f.small(shape), [&](const std::vector<IrValue>& i) {
      IrValue candidate = f.element(x, ir.CreateAdd(at[1], ir.CreateAdd(i[1], f.constant(after))));
      IrValue so_far = ir.CreateLoad(type, extreme);
      IrValue wins = better(candidate, so_far);
      IrValue here = ir.CreateIntCast(ir.CreateAdd(i[0], f.constant(1)), f.module.i32(), false);
      ir.CreateStore(ir.CreateSelect(wins, here, ir.CreateLoad(f.module.i32(), best)), best);
      ir.CreateStore(ir.CreateSelect(wins, candidate, so_far), extreme);
    });
    f.store(DType::i32, ir.CreateLoad(f.module.i32(), best), f.offset(DType::i32, to, at[0]));
  });
}

}  // namespace rml::codegen
