// Elementwise operators, fused: one loop nest per value that is materialised.
//
// An inlined operand is not read but computed where it is used, down to tensors that are in
// memory (the leaves):
//
//   %7 = mul %4 %5 (inlined)      for i { %8[i] = %4[i] * %5[i % 3] + %6[0] }
//   %8 = add %7 %6
//
// Each leaf is a view with the strides of its broadcast to the shape of the loop. Loads and
// the store carry scopes saying that the result overlaps with no leaf, which is what the
// vectoriser needs to know.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "lowering/llvm/body.h"

namespace rml::codegen {

void Body::gather(Expression& e, ValueId v) {
  if (module.inlined(v)) {
    for (const ValueId operand : std::get<core::Apply>(info(v).rhs).operands) gather(e, operand);
  } else if (std::find(e.leaves.begin(), e.leaves.end(), v) == e.leaves.end()) {
    e.leaves.push_back(v);
  }
}

// The value itself is computed, whether inlined or not, if it is an elementwise application.
Expression Body::expression(ValueId root) {
  Expression e{root, {}};
  gather(e, root);
  return e;
}

std::vector<Strides> Body::leaf_views(const Expression& e, const Shape& shape) const {
  std::vector<Strides> views;
  for (const ValueId leaf : e.leaves) views.push_back(broadcast_strides(info(leaf).shape, shape));
  return views;
}

std::vector<Access> Body::separate(std::size_t count) {
  llvm::MDBuilder metadata(module.context);
  auto* domain = metadata.createAnonymousAliasScopeDomain("loop");
  std::vector<llvm::Metadata*> read;
  std::vector<Access> access(count);
  auto* written = llvm::MDNode::get(module.context, {metadata.createAnonymousAliasScope(domain)});
  for (std::size_t k = 1; k < count; ++k) {
    llvm::MDNode* scope = metadata.createAnonymousAliasScope(domain);
    read.push_back(scope);
    access[k] = {llvm::MDNode::get(module.context, {scope}), written};
  }
  access[0] = {written, llvm::MDNode::get(module.context, read)};
  return access;
}

// offsets and access: [0] the result, then one per leaf.
IrValue Body::evaluate(const Expression& e, ValueId v, const std::vector<IrValue>& offsets,
                       const std::vector<Access>& access) {
  const auto leaf = std::find(e.leaves.begin(), e.leaves.end(), v);
  if (leaf != e.leaves.end()) {
    const auto k = static_cast<std::size_t>(leaf - e.leaves.begin()) + 1;
    return element(v, offsets[k], info(v).shape.empty() ? Access{} : access[k]);
  }
  std::vector<IrValue> operands;
  for (const ValueId operand : std::get<core::Apply>(info(v).rhs).operands)
    operands.push_back(evaluate(e, operand, offsets, access));
  return scalar_operation(v, operands);
}

void Body::elementwise(ValueId v) {
  Expression e{v, {}};
  for (const ValueId operand : std::get<core::Apply>(info(v).rhs).operands) gather(e, operand);
  const Shape& shape = info(v).shape;
  IrValue to = result(v);
  if (small(v)) {
    const std::vector<Access> none(e.leaves.size() + 1);
    std::vector<Strides> views = leaf_views(e, shape);
    views.insert(views.begin(), dense_strides(shape));
    walk(shape, views, true, [&](const std::vector<IrValue>& offsets) {
      IrValue value = evaluate(e, v, offsets, none);
      store(info(v).dtype, value, offset(info(v).dtype, to, offsets[0]));
    });
    return;
  }
  std::vector<Access> access = separate(e.leaves.size() + 1);
  if (home(v).valid()) {  // computed where a leaf may lie, each element over its own
    independent_ = llvm::MDNode::getDistinct(module.context, {});
    for (Access& a : access) a.group = independent_;
    for (std::size_t k = 0; k < e.leaves.size(); ++k)
      if (info(e.leaves[k]).shape == shape) access[k + 1] = {nullptr, nullptr, independent_};
  }
  std::vector<Strides> views = leaf_views(e, shape);
  views.insert(views.begin(), dense_strides(shape));
  walk(shape, views, false, [&](const std::vector<IrValue>& offsets) {
    IrValue value = evaluate(e, v, offsets, access);
    store(info(v).dtype, value, offset(info(v).dtype, to, offsets[0]), access[0]);
  });
  independent_ = nullptr;
}

// Axes along which all views advance evenly are merged, so that operands of one shape, or of
// one shape and a scalar, are one loop.
void Body::walk(const Shape& shape, const std::vector<Strides>& views, bool unrolled,
                const std::function<void(const std::vector<IrValue>&)>& body) {
  Shape extents;
  std::vector<Strides> merged(views.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return;
    if (shape[axis] == 1) continue;
    bool even = !extents.empty();
    for (std::size_t k = 0; k < views.size() && even; ++k) even = merged[k].back() == views[k][axis] * shape[axis];
    if (even)
      extents.back() *= shape[axis];
    else
      extents.push_back(shape[axis]);
    for (std::size_t k = 0; k < views.size(); ++k) {
      if (even)
        merged[k].back() = views[k][axis];
      else
        merged[k].push_back(views[k][axis]);
    }
  }
  std::function<void(std::size_t, const std::vector<IrValue>&)> nest = [&](std::size_t depth,
                                                                           const std::vector<IrValue>& offsets) {
    if (depth == extents.size()) return body(offsets);
    const auto inside = [&](IrValue i) {
      std::vector<IrValue> inner = offsets;
      for (std::size_t k = 0; k < views.size(); ++k) {
        const std::int64_t stride = merged[k][depth];
        if (stride == 0) continue;
        IrValue step = stride == 1 ? i : ir.CreateMul(i, constant(stride), "", true, true);
        auto* outer = llvm::dyn_cast<llvm::ConstantInt>(offsets[k]);
        inner[k] = outer != nullptr && outer->isZero() ? step : ir.CreateAdd(offsets[k], step, "", true, true);
      }
      nest(depth + 1, inner);
    };
    if (unrolled) {
      for (std::int64_t i = 0; i < extents[depth]; ++i) inside(constant(i));
    } else {
      loop(extents[depth], inside);
    }
  };
  nest(0, std::vector<IrValue>(views.size(), constant(0)));
}

}  // namespace rml::codegen
