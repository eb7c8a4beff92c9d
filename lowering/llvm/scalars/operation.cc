// Emits the scalar operations of elementwise operators, as defined by semantics/operators/scalar.h.
//
// Functions beyond the four operations and the square root are inlined (functions.h). At -O0 and with strict_math they
// are calls of libm, marked nobuiltin, so that results equal those of the reference engine bit for bit.
#include "lowering/llvm/scalars/operation.h"

#include "lowering/llvm/scalars/arithmetic.h"
#include "lowering/llvm/scalars/functions.h"
#include "lowering/llvm/scalars/spell.h"

namespace rml::codegen {

namespace {

// True if functions.h computes the operator inline, instead of calling the C library's function.
bool is_written_out(const Function& f, const OperatorInfo& op, DType dtype) {
  const bool function = op.effort == Effort::elementary || op.effort == Effort::circular;
  return function && !f.module.numeric.calls_libm && is_real(dtype);
}

}  // namespace

IrValue scalar_operation(Function& f, ValueId v, const std::vector<IrValue>& x) {
  const auto& apply = std::get<core::Apply>(f.info(v).rhs);
  const OperatorInfo& row = operators()[apply.op];
  const DType dtype = f.info(apply.operands[0]).dtype;
  if (is_written_out(f, row, dtype)) return expand(f.ir, row, x[0], f.module.target, f.module.numeric);
  if (!row.function.empty()) return library(f, row.function, dtype, x);
  if (row.scalar == ScalarOp::cast) return convert(f, f.info(v).dtype, dtype, x[0]);
  return spell(f, row.body, dtype, v, x);
}

}  // namespace rml::codegen
