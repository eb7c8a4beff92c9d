// Collects expressions from inlined values, evaluates them, and estimates the cost of one element.
#include "lowering/llvm/elements/expression.h"

#include <algorithm>
#include <stdexcept>

#include "lowering/llvm/scalars/arithmetic.h"
#include "lowering/llvm/scalars/operation.h"

namespace rml::codegen {

std::size_t gather(const Function& f, Expression& e, ValueId v, const IndexMap& map, bool root) {
  for (std::size_t k = 0; k < e.nodes.size(); ++k)
    if (e.nodes[k].value == v && e.nodes[k].map == map) return k;
  Expression::Node node{v, map, {}, SIZE_MAX};
  if ((root || f.module.inlined(v)) && is_pointwise(f.module.core, v)) {
    const auto& operands = std::get<core::Apply>(f.info(v).rhs).operands;
    for (std::size_t k = 0; k < operands.size(); ++k)
      node.operands.push_back(gather(f, e, operands[k], *operand_map(f.module.core, v, k, map), false));
  } else {
    const Strides dense = dense_strides(f.info(v).shape);
    Expression::Leaf leaf{v, Strides(e.rank, 0), 0};
    for (std::size_t axis = 0; axis < map.size(); ++axis) {
      leaf.base += dense[axis] * map[axis].start;
      if (map[axis].loop != SIZE_MAX) leaf.strides[map[axis].loop] += dense[axis] * map[axis].step;
    }
    node.leaf = e.leaves.size();
    e.leaves.push_back(std::move(leaf));
  }
  e.nodes.push_back(std::move(node));
  return e.nodes.size() - 1;
}

Expression expression(Function& f, ValueId v, bool root) {
  Expression e;
  e.rank = f.info(v).shape.size();
  gather(f, e, v, identity_map(f.info(v).shape), root);
  for (const Expression::Leaf& leaf : e.leaves) f.prepare(leaf.value);
  return e;
}

std::vector<Strides> leaf_views(const Expression& e) {
  std::vector<Strides> views;
  for (const Expression::Leaf& leaf : e.leaves) views.push_back(leaf.strides);
  return views;
}

// True if the strides of the loop's axes, except those of extent 1, are those of the dense tensor.
bool runs_through(const Strides& strides, const Shape& shape) {
  const Strides dense = dense_strides(shape);
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != 1 && strides[k] != dense[k]) return false;
  return true;
}

bool is_uniform(const Strides& strides) {
  return std::ranges::all_of(strides, [](std::int64_t s) { return s == 0; });
}

bool works_on_vectors(const OperatorInfo& op, DType operand) {
  return op.vectors == Vectors::of_all || (op.vectors == Vectors::of_floats && is_float(operand));
}

namespace {

// Nanoseconds of an operation on one element, alone or as one lane of a vector.
double cost_of(const Costs& costs, const OperatorInfo& op, DType dtype, double lanes) {
  switch (op.effort) {
    case Effort::instruction:
    case Effort::simple:
      return costs.simple / lanes;
    case Effort::division:
      return is_float(dtype) ? costs.division / lanes : costs.integer_division;
    case Effort::remainder:
      return costs.integer_division;
    case Effort::root:
      return costs.root / lanes;
    case Effort::elementary:
    case Effort::circular:
      return costs.elementary / lanes;
    case Effort::power:
      return costs.power / lanes;
    case Effort::call:
      return costs.call;
  }
  throw std::logic_error("code generation: an operation of unknown cost");
}

}  // namespace

// The work of one element; nothing if an operation can fail, because it is observable which one fails first.
Work work(const Function& f, const Expression& e, std::size_t written) {
  double sum = 0;
  for (const Expression::Node& node : e.nodes) {
    const DType dtype = f.info(node.value).dtype;
    if (node.leaf != SIZE_MAX) {
      sum += f.module.target.costs.byte * static_cast<double>(byte_size(dtype));
      continue;
    }
    if (can_fail(f.module.core, node.value)) return {};
    const OperatorInfo& op = operators()[std::get<core::Apply>(f.info(node.value).rhs).op];
    sum += cost_of(f.module.target.costs, op, dtype, static_cast<double>(f.lanes(dtype)));
  }
  // A thread gets whole vectors. With work_of_thread 0, where every loop is split, it may get single elements. Loops
  // that LLVM may fully unroll, and then sum in another order, are not split.
  const Target& target = f.module.target;
  const double never_unrolled = f.module.numeric.fast ? target.nest_unrolled_by_llvm : 0;
  return {written, sum, target.costs.work_of_thread > 0 ? target.elements_together : 1, never_unrolled};
}

std::vector<IrValue> evaluate(Function& f, const Expression& e, const std::function<IrValue(std::size_t)>& leaf) {
  std::vector<IrValue> values;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      values.push_back(leaf(node.leaf));
      continue;
    }
    std::vector<IrValue> operands;
    for (const std::size_t k : node.operands) operands.push_back(values[k]);
    const Lowering lowering = operators()[std::get<core::Apply>(f.info(node.value).rhs).op].lowering;
    if (lowering == Lowering::elementwise)
      values.push_back(scalar_operation(f, node.value, operands));
    else
      values.push_back(lowering == Lowering::outer ? multiply(f, f.info(node.value).dtype, operands[0], operands[1])
                                                   : operands[0]);
  }
  return values;
}

std::vector<IrValue> evaluate(Function& f, const Expression& e, std::span<const IrValue> offsets,
                              std::span<const Access> access) {
  auto& ir = f.ir;
  return evaluate(f, e, [&](std::size_t k) {
    const Expression::Leaf& leaf = e.leaves[k];
    IrValue at = leaf.base == 0 ? offsets[k] : ir.CreateAdd(offsets[k], f.constant(leaf.base), "", true, true);
    return f.element(leaf.value, at, f.info(leaf.value).shape.empty() ? Access{} : access[k]);
  });
}

}  // namespace rml::codegen
