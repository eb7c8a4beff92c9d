// Copies small values element by element, others as blocks of bytes.
#include "lowering/llvm/function/values.h"

#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

void store_value(Function& f, ValueId v, IrValue to) {
  const Value& value = f.info(v);
  if (!f.small(v)) return f.copy_bytes(to, f.address(v), value.dtype, value.shape);
  if (const auto stored = f.whole.lanes.find(v.index); stored != f.whole.lanes.end())
    return copy_elements(f, value.dtype, stored->second, elements(value.shape), f.address(v), to);
  for (std::int64_t i = 0; i < elements(value.shape); ++i)
    f.store(value.dtype, f.element(v, f.constant(i)), f.offset(value.dtype, to, f.constant(i)));
}

void fill_zero(Function& f, ValueId v, IrValue to) {
  auto& ir = f.ir;
  const DType dtype = f.info(v).dtype;
  if (!f.small(v)) {
    ir.CreateMemSet(to, ir.getInt8(0), bytes(dtype, f.info(v).shape), llvm::Align(byte_size(dtype)));
    return;
  }
  auto* zero = llvm::Constant::getNullValue(memory_type(f.module.context, dtype));
  for (std::int64_t i = 0; i < elements(f.info(v).shape); ++i) {
    ir.CreateAlignedStore(zero, f.offset(dtype, to, f.constant(i)), llvm::Align(byte_size(dtype)));
  }
}

}  // namespace rml::codegen
