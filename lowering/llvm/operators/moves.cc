// Operators that are lists of strided copies (semantics/operators/moves.h): one walk per copy.
#include "semantics/operators/moves.h"
#include "lowering/llvm/function/function.h"

namespace rml::codegen {

void Body::move(ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  prepare(x);
  const OperatorInfo& row = operators()[a.op];
  const DType dtype = info(v).dtype;
  const std::vector<Move> moves = row.moves(info(x).shape, a.attributes);
  std::int64_t written = 0;
  for (const Move& m : moves) written += elements(m.shape);
  IrValue to = result(v);
  if (written < elements(info(v).shape)) {
    if (const Tensor value = Tensor::number(dtype, move_fill(row, a.attributes)); all_zero(value)) {
      fill_zero(v, to);
    } else {
      llvm::Constant* filler = element_constant(module.context, value, 0);
      walk({elements(info(v).shape)}, {{1}}, small(v),
           [&](const std::vector<IrValue>& at) { store(dtype, filler, offset(dtype, to, at[0])); });
    }
  }
  for (const Move& m : moves)
    copy_strided(m.shape, dtype, to, constant(m.to), m.to_strides, x, constant(m.from), m.from_strides);
}

// Elements that come from one place are added in the order of the moves.
void Body::sum_moves(ValueId v, const core::Apply& a) {
  const ValueId x = a.operands[0];
  prepare(x);
  const DType dtype = info(v).dtype;
  IrValue to = result(v);
  fill_zero(v, to);
  for (const Move& m : operators()[a.op].moves(info(v).shape, std::span(a.attributes).subspan(1))) {
    walk(m.shape, {m.to_strides, m.from_strides}, small(m.shape), [&](const std::vector<IrValue>& at) {
      IrValue place = offset(dtype, to, ir.CreateAdd(constant(m.from), at[1], "", true, true));
      IrValue more = element(x, ir.CreateAdd(constant(m.to), at[0], "", true, true));
      store(dtype, add(dtype, load(dtype, place), more), place);
    });
  }
}

}  // namespace rml::codegen
