// Emits copies as walks over the copied shape, with a view of the result and a view of the operand, or of the leaves
// from which the operand is computed.
#include "lowering/llvm/operators/copies.h"

#include <span>

#include "lowering/llvm/elements/expression.h"

namespace rml::codegen {

void copy_strided(Function& f, const Shape& shape, DType dtype, IrValue to, IrValue to_offset,
                  const Strides& to_strides, ValueId from, IrValue from_offset, const Strides& from_strides) {
  auto& ir = f.ir;
  const bool unrolled = f.small(shape);
  const std::vector<Access> access = unrolled ? std::vector<Access>(2) : separate(f.module.context, 2);
  const Work work{1, 2 * f.module.target.costs.byte * static_cast<double>(byte_size(dtype)),
                  f.module.target.elements_together};
  walk(f, shape, {to_strides, from_strides}, unrolled, work, [&](const std::vector<IrValue>& at) {
    IrValue value = f.element(from, ir.CreateAdd(from_offset, at[1], "", true, true), access[1]);
    f.store(dtype, value, f.offset(dtype, to, ir.CreateAdd(to_offset, at[0], "", true, true)), access[0]);
  });
}

void copy_into(Function& f, ValueId v, IrValue to, std::int64_t begin, const Strides& to_strides, ValueId x) {
  const Shape& shape = f.info(x).shape;
  const Expression e = expression(f, x, f.module.inlined(x));
  const bool unrolled = f.small(shape);
  const std::size_t count = e.leaves.size() + 1;
  const std::vector<Access> access = unrolled ? std::vector<Access>(count) : separate(f.module.context, count);
  std::vector<Strides> views = leaf_views(e);
  views.insert(views.begin(), to_strides);
  IrValue base = f.offset(f.info(v).dtype, to, f.constant(begin));
  walk(f, shape, views, unrolled, work(f, e, 1), [&](const std::vector<IrValue>& at) {
    IrValue value = evaluate(f, e, std::span(at).subspan(1), std::span(access).subspan(1)).back();
    f.store(f.info(v).dtype, value, f.offset(f.info(v).dtype, base, at[0]), access[0]);
  });
}

}  // namespace rml::codegen
