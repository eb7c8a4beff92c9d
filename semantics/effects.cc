// What computing a value may do besides.
#include <algorithm>

#include "semantics/core.h"

namespace rml {

namespace {

bool may_be_zero(const Core& core, ValueId divisor) {
  if (is_float(core[divisor].dtype)) return false;
  const auto* known = std::get_if<core::Const>(&core[divisor].rhs);
  return known == nullptr || std::ranges::count(known->value.integers(), 0) > 0;
}

}  // namespace

bool can_fail(const Core& core, ValueId v) {
  const auto* a = std::get_if<core::Apply>(&core[v].rhs);
  if (a == nullptr || !operators()[a->op].can_fail) return false;
  return operators()[a->op].lowering != Lowering::elementwise || may_be_zero(core, a->operands[1]);
}

bool only_computes(const Core& core, ValueId v) {
  const auto* a = std::get_if<core::Apply>(&core[v].rhs);
  return a != nullptr && !can_fail(core, v) && !operators()[a->op].random &&
         operators()[a->op].lowering != Lowering::parameter;
}

}  // namespace rml
