// Failures and side effects of computing a value, and the bodies of iterations, which inherit
// them.
#include <algorithm>

#include "semantics/core/core.h"
#include "semantics/core/joint.h"
#include "semantics/core/queries.h"

namespace rml {

namespace {

bool may_be_zero(const Core& core, ValueId divisor) {
  if (is_float(core[divisor].dtype)) return false;
  const auto* known = std::get_if<core::Const>(&core[divisor].rhs);
  return known == nullptr || std::ranges::count(known->value.integers(), 0) > 0;
}

}  // namespace

bool can_fail(const Core& core, ValueId v) {
  if (const auto* call = std::get_if<core::Call>(&core[v].rhs)) {
    const auto& iteration = core.externals[call->external].iteration;
    return iteration != nullptr && iteration->can_fail;
  }
  const auto* a = apply_of(core, v);
  if (a == nullptr || !operators()[a->op].can_fail) return false;
  if (operators()[a->op].lowering != Lowering::elementwise) return true;
  return a->operands.size() == 1 || may_be_zero(core, a->operands[1]);
}

void change_bodies(Core& core, const std::function<void(Core&)>& change) {
  for (ExternalNode& external : core.externals) {
    if (external.in_c()) continue;
    auto changed = std::make_shared<Iteration>(*external.iteration);
    change_bodies(changed->body, change);
    change(changed->body);
    changed->can_fail = false;
    for (std::size_t v = 0; v < changed->body.values.size(); ++v)
      changed->can_fail = changed->can_fail || can_fail(changed->body, ValueId(v));
    external.iteration = std::move(changed);
  }
}

bool only_computes(const Core& core, ValueId v) {
  const auto* a = apply_of(core, v);
  return a != nullptr && !can_fail(core, v) && !operators()[a->op].random &&
         operators()[a->op].lowering != Lowering::parameter && !is_joint(a->op);
}

}  // namespace rml
