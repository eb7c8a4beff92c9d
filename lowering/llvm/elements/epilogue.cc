// The loops of a product compute an expression over it from its elements as they leave the registers, so that the
// product is never in memory. If two packed products are only used in their sum, the loops compute both together.
#include "lowering/llvm/elements/epilogue.h"

#include <algorithm>

#include "lowering/llvm/function/vectors.h"
#include "lowering/llvm/products/matmul.h"
#include "lowering/llvm/products/packed.h"

namespace rml::codegen {

namespace {

bool is_product(const Value& v) {
  const auto* a = std::get_if<core::Apply>(&v.rhs);
  return a != nullptr && operators()[a->op].lowering == Lowering::matmul;
}

// True if the product's loops can compute the whole expression: all operations work on vectors, and every other leaf is
// dense, uniform, or a row or column of the product's matrix.
bool can_be_epilogue(const Function& f, const Expression& e, std::size_t leaf, const Shape& shape) {
  const Value& product = f.info(e.leaves[leaf].value);
  if (!is_product(product) || f.small(product.shape) || e.leaves[leaf].base != 0 ||
      !runs_through(e.leaves[leaf].strides, shape) || elements(product.shape) != elements(shape))
    return false;
  for (const Expression::Node& node : e.nodes) {
    if (node.leaf != SIZE_MAX) {
      const Expression::Leaf& other = e.leaves[node.leaf];
      const bool uniform = std::ranges::all_of(other.strides, [](std::int64_t s) { return s == 0; });
      const bool matrix = product.shape.size() == 2 && shape == product.shape;
      const bool line = matrix && (other.strides[1] == 0 || other.strides[1] == 1);
      if (!(other.base == 0 && runs_through(other.strides, shape)) && !uniform && !line) return false;
      continue;
    }
    const auto& apply = std::get<core::Apply>(f.info(node.value).rhs);
    const OperatorInfo& op = operators()[apply.op];
    if (can_fail(f.module.core, node.value) || f.info(node.value).dtype == DType::i8) return false;
    if (op.lowering == Lowering::elementwise && !works_on_vectors(op, f.info(apply.operands[0]).dtype)) return false;
  }
  return f.info(e.nodes.back().value).dtype != DType::boolean;
}

// The last leaf that is a product whose loops can compute the whole expression; SIZE_MAX: none.
std::size_t epilogue(const Function& f, const Expression& e, const Shape& shape) {
  for (std::size_t k = e.leaves.size(); k-- > 0;)
    if (f.module.inlined(e.leaves[k].value) && can_be_epilogue(f, e, k, shape)) return k;
  return SIZE_MAX;
}

// Another leaf that is a packed product of one row, if the expression uses both products in their sum only; SIZE_MAX:
// none.
std::size_t summed_leaf(const Function& f, const Expression& e, std::size_t product, const Shape& shape) {
  std::vector<std::vector<std::size_t>> users(e.nodes.size());
  for (std::size_t k = 0; k < e.nodes.size(); ++k)
    for (const std::size_t o : e.nodes[k].operands) users[o].push_back(k);
  // The sums of which a leaf is only one term, from the innermost to the outermost.
  const auto sums = [&](std::size_t leaf) {
    std::vector<std::size_t> found;
    auto k = static_cast<std::size_t>(std::ranges::find(e.nodes, leaf, &Expression::Node::leaf) - e.nodes.begin());
    while (k < e.nodes.size() && users[k].size() == 1) {
      k = users[k][0];
      const auto& apply = std::get<core::Apply>(f.info(e.nodes[k].value).rhs);
      const OperatorInfo& op = operators()[apply.op];
      const bool reshapes = op.lowering == Lowering::reshape;
      if (!reshapes && (op.lowering != Lowering::elementwise || op.scalar != ScalarOp::add)) break;
      if (!reshapes) found.push_back(k);
    }
    return found;
  };
  const auto packed_row = [&](ValueId v) {
    const auto at = f.module.packs.of.find(v);
    return at != f.module.packs.of.end() && f.module.packs.list[at->second].rows == 1;
  };
  if (!packed_row(e.leaves[product].value)) return SIZE_MAX;
  const std::vector<std::size_t> of_product = sums(product);
  for (std::size_t k = 0; k < e.leaves.size(); ++k) {
    const ValueId v = e.leaves[k].value;
    if (k == product || !f.module.inlined(v) || !packed_row(v) || !can_be_epilogue(f, e, k, shape)) continue;
    for (const std::size_t sum : sums(k))
      if (std::ranges::find(of_product, sum) != of_product.end()) return k;
  }
  return SIZE_MAX;
}

}  // namespace

Epilogue find_epilogue(const Function& f, const Expression& e, const Shape& shape) {
  const std::size_t product = epilogue(f, e, shape);
  return {product, product == SIZE_MAX ? SIZE_MAX : summed_leaf(f, e, product, shape)};
}

void emit_epilogue(Function& f, ValueId v, const Expression& e, const Epilogue& leaves) {
  const std::size_t product = leaves.product, other = leaves.other;
  auto& ir = f.ir;
  const ValueId p = e.leaves[product].value;
  const auto& apply = std::get<core::Apply>(f.info(p).rhs);
  const Shape& shape = f.info(v).shape;
  const DType dtype = f.info(v).dtype;
  IrValue to = f.result(v);
  bool together = false;
  const Sink sink = [&](const Spot& at, IrValue found, std::int64_t count) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(found->getType());
    IrValue value =
        evaluate(f, e, [&](std::size_t k) -> IrValue {
          if (k == product) return found;
          if (together && k == other) return no_terms(dtype, found->getType());
          const Expression::Leaf& leaf = e.leaves[k];
          const DType type = f.info(leaf.value).dtype;
          const bool dense = leaf.base == 0 && runs_through(leaf.strides, shape);
          IrValue from = dense ? at.offset : f.constant(leaf.base);
          std::int64_t along = dense ? 1 : 0;
          if (!dense && shape.size() == 2) {
            from = strided(f, strided(f, from, at.row, leaf.strides[0]), at.column, leaf.strides[1]);
            along = shape[1] == 1 ? leaf.strides[0] : leaf.strides[1];
          }
          if (vector == nullptr) return f.element(leaf.value, from);
          if (along == 0) return ir.CreateVectorSplat(vector->getElementCount(), f.element(leaf.value, from));
          return load_elements(f, type, vector->getNumElements(), count, f.offset(type, f.address(leaf.value), from));
        }).back();
    store_elements(f, dtype, value, count, f.offset(dtype, to, at.offset), {});
  };
  const auto apart = [&] {
    together = false;
    if (other != SIZE_MAX) f.prepare(e.leaves[other].value);
    each_product(f, p, apply.operands[0], apply.operands[1], false, sink);
  };
  if (other == SIZE_MAX) return apart();
  together = true;
  packed_sum(f, {packed_term(f, e.leaves[other].value), packed_term(f, p)}, sink, apart);
}

}  // namespace rml::codegen
