// Emits a loop nest (function/walk.h) for each strided copy of an operator that moves elements.
#include "lowering/llvm/operators/moves.h"

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/function/walk.h"
#include "lowering/llvm/operators/copies.h"
#include "lowering/llvm/scalars/arithmetic.h"
#include "semantics/operators/moves.h"

namespace rml::codegen {

void emit_move(Function& f, ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  f.prepare(x);
  const OperatorInfo& row = operators()[a.op];
  const DType dtype = f.info(v).dtype;
  const std::vector<Move> moves = row.moves(f.info(x).shape, a.attributes);
  std::int64_t written = 0;
  for (const Move& m : moves) written += elements(m.shape);
  IrValue to = f.result(v);
  if (written < elements(f.info(v).shape)) {
    if (const Tensor value = Tensor::number(dtype, move_fill(row, a.attributes)); all_zero(value)) {
      fill_zero(f, v, to);
    } else {
      llvm::Constant* filler = element_constant(f.module.context, value, 0);
      walk(f, {elements(f.info(v).shape)}, {{1}}, f.small(v),
           [&](const std::vector<IrValue>& at) { f.store(dtype, filler, f.offset(dtype, to, at[0])); });
    }
  }
  for (const Move& m : moves)
    copy_strided(f, m.shape, dtype, to, f.constant(m.to), m.to_strides, x, f.constant(m.from), m.from_strides);
}

// Adds the elements that are moved to the same place, in the order of the moves.
void emit_sum_moves(Function& f, ValueId v, const core::Apply& a) {
  auto& ir = f.ir;
  const ValueId x = a.operands[0];
  f.prepare(x);
  const DType dtype = f.info(v).dtype;
  IrValue to = f.result(v);
  fill_zero(f, v, to);
  for (const Move& m : operators()[a.op].moves(f.info(v).shape, std::span(a.attributes).subspan(1))) {
    walk(f, m.shape, {m.to_strides, m.from_strides}, f.small(m.shape), [&](const std::vector<IrValue>& at) {
      IrValue place = f.offset(dtype, to, ir.CreateAdd(f.constant(m.from), at[1], "", true, true));
      IrValue more = f.element(x, ir.CreateAdd(f.constant(m.to), at[0], "", true, true));
      f.store(dtype, add(f, dtype, f.load(dtype, place), more), place);
    });
  }
}

}  // namespace rml::codegen
