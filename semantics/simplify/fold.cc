// Folding: the equivalent of one value, given its operands (part of simplify).
//
// Only identities that hold bit for bit, and that need the same operands as before: x * 1 for
// integers, but not x + 0.0, which turns -0.0 into 0.0, and not `c and false`, which is
// undetermined where c is.
//
//   when c (merge c y z)               y
//   merge c (when c x) (when not c x)  x
//   fby 3 3                            3
//   h = merge c (when c p) (when not c (fby (when s p) h))     p, where p = fby q p never changes
#include <algorithm>

#include "semantics/core/joint.h"
#include "semantics/core/queries.h"
#include "semantics/simplify/passes.h"
#include "semantics/values/overloaded.h"

namespace rml {

namespace {

const Tensor* constant(const Core& core, ValueId v) {
  const auto* c = std::get_if<core::Const>(&core[v].rhs);
  return c != nullptr ? &c->value : nullptr;
}
// True for a constant integer tensor whose elements all equal n.
bool is_integer_all(const Core& core, ValueId v, std::int64_t n) {
  const Tensor* c = constant(core, v);
  if (c == nullptr || !is_integer(c->dtype())) return false;
  for (const std::int64_t i : c->integers())
    if (i != n) return false;
  return true;
}
bool is_boolean_all(const Core& core, ValueId v, bool truth) {
  const Tensor* c = constant(core, v);
  if (c == nullptr || c->dtype() != DType::boolean) return false;
  for (std::int64_t i = 0; i < c->elements(); ++i)
    if ((c->as<std::uint8_t>()[i] != 0) != truth) return false;
  return true;
}

Folded nothing() { return {}; }
Folded is_value(const Core& core, ValueId v) {
  const Tensor* c = constant(core, v);
  return c != nullptr ? Folded{{}, *c} : Folded{v, {}};
}

// x for `x op neutral`, on integers and Booleans.
ValueId neutral_operand(const Core& core, const core::Apply& apply) {
  if (apply.operands.size() != 2) return {};
  const ValueId a = apply.operands[0], b = apply.operands[1];
  switch (operators()[apply.op].scalar) {
    case ScalarOp::add:
      return is_integer_all(core, b, 0) ? a : is_integer_all(core, a, 0) ? b : ValueId{};
    case ScalarOp::mul:
      return is_integer_all(core, b, 1) ? a : is_integer_all(core, a, 1) ? b : ValueId{};
    case ScalarOp::sub:
      return is_integer_all(core, b, 0) ? a : ValueId{};
    case ScalarOp::div:
      return is_integer_all(core, b, 1) ? a : ValueId{};
    case ScalarOp::logical_and:
      return is_boolean_all(core, b, true) ? a : is_boolean_all(core, a, true) ? b : ValueId{};
    case ScalarOp::logical_or:
      return is_boolean_all(core, b, false) ? a : is_boolean_all(core, a, false) ? b : ValueId{};
    default:
      return {};
  }
}

Folded fold_apply(const Core& core, ValueId v, const core::Apply& apply) {
  const Value& value = core[v];
  if (auto result = evaluate_constants(core, value, apply)) return {{}, std::move(result)};
  const OperatorInfo& row = operators()[apply.op];
  const auto same_type = [&](ValueId x) { return core[x].dtype == value.dtype && core[x].shape == value.shape; };
  if (row.lowering == Lowering::reshape || row.lowering == Lowering::broadcast || row.lowering == Lowering::sum_to)
    return apply.operands.size() == 1 && same_type(apply.operands[0]) ? is_value(core, apply.operands[0]) : nothing();
  if (row.lowering == Lowering::transpose) {
    const auto twice = transposed_twice(core, v);
    return twice && std::ranges::is_sorted(twice->axes) ? is_value(core, twice->operand) : nothing();
  }
  if (row.lowering != Lowering::elementwise) return nothing();
  if (row.scalar == ScalarOp::logical_not || row.scalar == ScalarOp::negate) {
    const auto* inner = apply_of(core, apply.operands[0]);
    return inner != nullptr && inner->op == apply.op ? is_value(core, inner->operands[0]) : nothing();
  }
  if (row.scalar == ScalarOp::cast && same_type(apply.operands[0])) return is_value(core, apply.operands[0]);
  if (row.scalar == ScalarOp::select) {
    for (const bool truth : {true, false}) {
      const ValueId chosen = apply.operands[truth ? 1 : 2];
      if (is_boolean_all(core, apply.operands[0], truth) && same_type(chosen)) return is_value(core, chosen);
    }
    return nothing();
  }
  const ValueId kept = neutral_operand(core, apply);
  return kept.valid() && same_type(kept) ? is_value(core, kept) : nothing();
}

Folded fold_when(const Core& core, const core::When& when) {
  if (constant_truth(core, when.condition) == when.positive) return is_value(core, when.operand);
  if (core.is_const(when.operand)) return is_value(core, when.operand);
  if (when.operand == when.condition) return {{}, Tensor::boolean(when.positive)};
  if (const auto* merge = std::get_if<core::Merge>(&core[when.operand].rhs);
      merge && merge->condition == when.condition)
    return is_value(core, when.positive ? merge->on_true : merge->on_false);
  if (const auto* apply = apply_of(core, when.operand);
      apply && operators()[apply->op].scalar == ScalarOp::logical_not && apply->operands[0] == when.condition)
    return {{}, Tensor::boolean(!when.positive)};
  return nothing();
}

bool stands_still(const Core& core, ValueId v) {
  const auto* f = std::get_if<core::Fby>(&core[v].rhs);
  return f != nullptr && f->next == v;
}

// True if the memory delays `held` and its initial value is sampled from p.
bool holds(const Core& core, ValueId memory, ValueId held, ValueId p) {
  const auto* f = std::get_if<core::Fby>(&core[memory].rhs);
  const auto* begin = f == nullptr ? nullptr : std::get_if<core::When>(&core[f->init].rhs);
  return begin != nullptr && f->next == held && begin->operand == p;
}

Folded fold_merge(const Core& core, ValueId v, const core::Merge& merge) {
  for (const bool truth : {true, false})
    if (constant_truth(core, merge.condition) == truth) return is_value(core, truth ? merge.on_true : merge.on_false);
  const Tensor* a = constant(core, merge.on_true);
  const Tensor* b = constant(core, merge.on_false);
  if (a != nullptr && b != nullptr) {
    if (*a == *b) return {{}, *a};
    if (constant_truth(core, merge.on_true) == true && constant_truth(core, merge.on_false) == false)
      return {merge.condition, {}};
    return nothing();
  }
  const auto* y = std::get_if<core::When>(&core[merge.on_true].rhs);
  const auto* z = std::get_if<core::When>(&core[merge.on_false].rhs);
  const auto samples = [&](const core::When* w, bool truth) {
    return w != nullptr && w->condition == merge.condition && w->positive == truth;
  };
  if (!samples(y, true) || !samples(z, false)) return nothing();
  if (y->operand == z->operand) return is_value(core, y->operand);
  for (const auto& [fresh, old] : {std::pair{y, z}, std::pair{z, y}})
    if (stands_still(core, fresh->operand) && holds(core, old->operand, v, fresh->operand)) return {fresh->operand, {}};
  return nothing();
}

Folded fold_fby(const Core& core, ValueId v, const core::Fby& fby) {
  const Tensor* init = constant(core, fby.init);
  const Tensor* next = constant(core, fby.next);
  if (init != nullptr && (fby.next == v || (next != nullptr && *init == *next))) return {{}, *init};
  return nothing();
}

}  // namespace

std::optional<Tensor> evaluate_constants(const Core& core, const Value& value, const core::Apply& apply) {
  const OperatorInfo& row = operators()[apply.op];
  const auto count = element_count(value.shape);
  if (row.random || row.lowering == Lowering::parameter || is_joint(apply.op) || !count) return std::nullopt;
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> operands;
  const Tensor unread;
  std::int64_t read = 0;
  for (const ValueId operand : apply.operands) {
    const Tensor* c = constant(core, operand);
    if (c == nullptr && row.lowering != Lowering::folded) return std::nullopt;
    dtypes.push_back(core[operand].dtype);
    shapes.push_back(core[operand].shape);
    operands.push_back(c != nullptr ? c : &unread);
    read += c != nullptr ? c->elements() : 0;
  }
  // Elements of a list are constants, so the folded list takes no more space than the list.
  const bool is_list = row.lowering == Lowering::array;
  if (!is_list && !worth_folding(row.lowering, *count, read)) return std::nullopt;
  Tensor result(value.dtype, value.shape);
  const Application application{dtypes, shapes, apply.attributes, value.dtype};
  if (row.evaluate(application, {}, operands, result).kind != 0) return std::nullopt;
  return std::move(result.freeze());
}

Folded fold(const Core& core, ValueId v) {
  return std::visit(
      Overloaded{
          [](const core::Const&) { return nothing(); },
          [](const core::Input&) { return nothing(); },
          [&](const core::Apply& a) { return fold_apply(core, v, a); },
          [](const core::Call&) { return nothing(); },
          [](const core::Result&) { return nothing(); },
          [&](const core::When& w) { return fold_when(core, w); },
          [&](const core::Merge& m) { return fold_merge(core, v, m); },
          [&](const core::Fby& f) { return fold_fby(core, v, f); },
          [&](const core::Post& p) { return core.is_const(p.operand) ? is_value(core, p.operand) : nothing(); },
      },
      core[v].rhs);
}

}  // namespace rml
