// Emits pools (pool_code.h). The runtime's kernels handle padding that counts in averages, overlapping windows in a
// gradient, and types other than floats.
#include "lowering/llvm/windows/pooling.h"

#include "lowering/llvm/function/parallel.h"
#include "lowering/llvm/windows/convolution.h"

namespace rml::codegen {

bool emit_pooling(Function& f, ValueId v, const core::Apply& a) {
  const WindowForm form = operators()[a.op].window;
  const bool adjoint = is_pool_gradient(form);
  const bool maximum = form == WindowForm::max_pool || form == WindowForm::max_pool_gradient;
  const std::span<const Attribute> attributes = std::span(a.attributes).subspan(adjoint && !maximum ? 1 : 0);
  const bool of_g = adjoint && !maximum;  // true if g is the only operand
  const Shape& x = of_g ? f.info(v).shape : f.info(a.operands[0]).shape;
  const window::Windows w = std::get<window::Windows>(pool_windows(x, attributes));
  const DType dtype = f.info(v).dtype;
  if (!is_float(dtype) || elements(f.info(v).shape) == 0 || elements(f.info(a.operands[0]).shape) == 0) return false;
  if (w.taps() > f.module.target.pool_taps || w.axis[2].stride > f.module.target.pool_stride) return false;
  if (adjoint && !PoolCode::side_by_side(w)) return false;
  PoolCode::Kind kind = maximum ? PoolCode::Kind::maximum : PoolCode::Kind::sum;
  if (form == WindowForm::average_pool || form == WindowForm::average_pool_gradient) {
    kind = PoolCode::Kind::average;
    const bool padded = attributes[6].integers[0] != 0;
    for (const window::Axis& axis : w.axis)
      for (std::int64_t o = 0; o < axis.out; ++o)
        if ((padded ? axis.covered_padded(o) : axis.covered(o)) != axis.size) return false;
  }
  IrValue to = f.result(v);
  const std::int64_t channels = x[0] * x[1];
  PoolCode code(f, dtype, w, kind, w.taps());
  if (!adjoint && convolution_pooled(f, a.operands[0], code, w.outputs(), to)) return true;
  for (const ValueId operand : a.operands) f.prepare(operand);
  if (adjoint) {
    code.adjoint_planes(of_g ? nullptr : f.address(a.operands[0]), f.address(a.operands.back()), to, channels);
  } else {
    IrValue from = f.address(a.operands[0]);
    parallel(f, channels, code.nanoseconds_of_plane(), [&](const Rounds& some) {
      code.prepare();
      code.planes(from, to, some, channels);
    });
  }
  return true;
}

}  // namespace rml::codegen
