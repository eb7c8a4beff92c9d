// Small tensors on which functions are computed, unrolled, would have a function for every element; as one vector they
// have one.
#include "lowering/llvm/elements/one_vector.h"

#include <algorithm>
#include <bit>

#include "lowering/llvm/function/vectors.h"

namespace rml::codegen {

namespace {

bool is_real(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

}  // namespace

// Small tensors on which functions are computed are one vector each: unrolled, every element would have a function
// of its own. Without functions that would not pay: elements just stored one by one are slow to load together.
bool fits_vector(const Function& f, const Expression& e, const Shape& shape) {
  const Target& target = f.module.target;
  if (elements(shape) < target.fewest_in_vector || !target.has_vectors() || f.module.numeric.calls_libm) return false;
  bool functions = false;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      const Strides& strides = e.leaves[node.leaf].strides;
      if (!is_real(f.info(node.value).dtype) || (!is_uniform(strides) && !runs_through(strides, shape))) return false;
      continue;
    }
    const auto& apply = std::get<core::Apply>(f.info(node.value).rhs);
    const OperatorInfo& op = operators()[apply.op];
    if (can_fail(f.module.core, node.value)) return false;
    if (op.lowering != Lowering::elementwise) continue;
    if (op.effort == Effort::elementary && is_real(f.info(node.value).dtype))
      functions = true;
    else if (!works_on_vectors(op, f.info(apply.operands[0]).dtype))
      return false;
  }
  return functions;
}

std::vector<IrValue> as_vectors(Function& f, const Expression& e, std::int64_t count) {
  auto& ir = f.ir;
  const auto lanes = static_cast<unsigned>(std::bit_ceil(static_cast<std::uint64_t>(count)));
  return evaluate(f, e, [&](std::size_t k) -> IrValue {
    const Expression::Leaf& leaf = e.leaves[k];
    const DType dtype = f.info(leaf.value).dtype;
    if (is_uniform(leaf.strides)) return ir.CreateVectorSplat(lanes, f.element(leaf.value, f.constant(leaf.base)));
    return load_elements(f, dtype, lanes, count, f.offset(dtype, f.address(leaf.value), f.constant(leaf.base)));
  });
}

}  // namespace rml::codegen
