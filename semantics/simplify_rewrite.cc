// Right-hand sides that say the same with less (part of simplify), bit for bit.
//
//   merge c F T                                  logical_not c
//   transpose %1 {axes=[1, 0]}, one row          reshape %1
//   reshape (reshape %1)                         reshape %1
//   matmul %1 %2, a column by a row              mul %1 %2      (the gradient of a product with a vector)
#include "semantics/simplify_passes.h"

namespace rml {

namespace {

bool is_truth(const Core& core, ValueId v, bool truth) {
  const auto* c = std::get_if<core::Const>(&core[v].rhs);
  return c != nullptr && c->value == Tensor::boolean(truth);
}

const core::Apply* application(const Core& core, ValueId v, Lowering lowering) {
  const auto* a = std::get_if<core::Apply>(&core[v].rhs);
  return a != nullptr && operators()[a->op].lowering == lowering ? a : nullptr;
}

// Extents other than 1, in order: what a transposition of them would change.
Shape without_ones(const Shape& shape) {
  Shape kept;
  for (const std::int64_t extent : shape)
    if (extent != 1) kept.push_back(extent);
  return kept;
}

core::Rhs reshaped(ValueId operand, const Shape& shape) {
  Attribute to;
  to.given = true;
  to.integers = shape;
  return core::Apply{operators().require("reshape"), {operand}, {to}, 0};
}

}  // namespace

std::optional<core::Rhs> simpler(const Core& core, ValueId v) {
  const Value& value = core[v];
  if (const auto* merge = std::get_if<core::Merge>(&value.rhs)) {
    if (!is_truth(core, merge->on_true, false) || !is_truth(core, merge->on_false, true)) return std::nullopt;
    return core::Apply{operators().require("logical_not"), {merge->condition}, {}, 0};
  }
  if (const auto* a = application(core, v, Lowering::transpose)) {
    // At most one extent that is not 1: there is nothing to exchange.
    if (without_ones(value.shape).size() <= 1) return reshaped(a->operands[0], value.shape);
  } else if (const auto* b = application(core, v, Lowering::reshape)) {
    if (const auto* inner = application(core, b->operands[0], Lowering::reshape))
      return reshaped(inner->operands[0], value.shape);
  } else if (const auto* c = application(core, v, Lowering::matmul)) {
    const Shape &x = core[c->operands[0]].shape, &y = core[c->operands[1]].shape;
    if (x.size() == 2 && y.size() == 2 && x[1] == 1)
      return core::Apply{operators().require("mul"), {c->operands[0], c->operands[1]}, {}, 0};
  }
  return std::nullopt;
}

}  // namespace rml
