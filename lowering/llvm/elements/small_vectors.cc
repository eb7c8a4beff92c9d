// Keeps small tensors as vectors. Unrolled code on a small tensor would compute a function for every element; on a
// vector it computes the function once. Also, dividing a vector takes hardly longer than dividing an element.
#include "lowering/llvm/elements/small_vectors.h"

#include <algorithm>
#include <bit>

#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/scalars/operation.h"

namespace rml::codegen {

// One vector if functions are computed; vectors as wide as the processor divides if there are only divisions and roots.
// Otherwise vectors would not pay: elements that were just stored one by one load slowly as a vector.
SmallVectors find_vectors(const Function& f, const Expression& e, const Shape& shape) {
  const Target& target = f.module.target;
  if (elements(shape) < target.fewest_in_vector || !target.has_vectors() || f.module.numeric.calls_libm) return {};
  bool functions = false, slow = false;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      const Strides& strides = e.leaves[node.leaf].strides;
      if (!is_real(f.info(node.value).dtype) || (!is_uniform(strides) && !runs_through(strides, shape))) return {};
      continue;
    }
    const auto& apply = std::get<core::Apply>(f.info(node.value).rhs);
    const OperatorInfo& op = operators()[apply.op];
    if (can_fail(f.module.core, node.value)) return {};
    if (op.lowering != Lowering::elementwise) continue;
    const DType dtype = f.info(apply.operands[0]).dtype;
    if (op.effort == Effort::elementary && is_real(f.info(node.value).dtype))
      functions = true;
    else if (!works_on_vectors(op, dtype))
      return {};
    slow = slow || (is_float(dtype) && (op.effort == Effort::division || op.effort == Effort::root));
  }
  if (functions) return {static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(elements(shape)))), true};
  return {slow ? target.divided_lanes(f.info(e.nodes.back().value).dtype) : 0, false};
}

std::vector<IrValue> as_vectors(Function& f, const Expression& e, std::int64_t begin, std::int64_t count,
                                std::int64_t lanes) {
  return evaluate(f, e, [&](std::size_t k) -> IrValue {
    const Expression::Leaf& leaf = e.leaves[k];
    const DType dtype = f.info(leaf.value).dtype;
    const auto wide = static_cast<unsigned>(lanes);
    if (!is_uniform(leaf.strides))
      return load_elements(f, dtype, wide, count,
                           f.offset(dtype, f.address(leaf.value), f.constant(leaf.base + begin)));
    IrValue one = f.element(leaf.value, f.constant(leaf.base));
    return lanes == 1 ? one : f.ir.CreateVectorSplat(wide, one);
  });
}

}  // namespace rml::codegen
