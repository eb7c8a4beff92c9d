// Checks each value of a part: its operator, its cost, and whether it can fail.
#include "semantics/spread/at_once.h"

#include <algorithm>

#include "semantics/core/queries.h"

namespace rml::mapped {

namespace {

// True if computing an operator for all elements is cheaper than a branch for each element.
bool is_cheap(Effort effort) {
  return effort == Effort::instruction || effort == Effort::simple || effort == Effort::division ||
         effort == Effort::root || effort == Effort::elementary;
}

}  // namespace

bool is_at_once(const Core& body, const Elements& elements, const std::vector<ValueId>& members) {
  return std::ranges::all_of(members, [&](ValueId v) {
    const rml::Value& value = body[v];
    if (reads_what_is_behind(body, v)) return false;
    if (std::holds_alternative<core::When>(value.rhs) || std::holds_alternative<core::Merge>(value.rhs))
      return value.shape.empty();
    const core::Apply* apply = apply_of(body, v, Lowering::elementwise);
    if (apply == nullptr) return false;
    return !elements.differs(value.clock) ||
           (value.shape.empty() && is_cheap(operators()[apply->op].effort) && !can_fail(body, v));
  });
}

}  // namespace rml::mapped
