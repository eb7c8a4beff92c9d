// Turns constant outputs, and asserts on inputs, into equations: streams belong to units, and constants and inputs to
// none.
#include "lowering/schedule/passes.h"

namespace rml {

Core give_constants_streams(Core core) {
  for (Value& v : core.values)
    if (const auto* p = std::get_if<core::Post>(&v.rhs); p != nullptr && core.is_const(p->operand))
      v.rhs = core[p->operand].rhs;
  for (Port& o : core.outputs) {
    if (!core.is_const(o.value)) continue;
    Value v = core[o.value];
    if (v.clock == never_clock) continue;
    if (!v.clock.valid()) v.clock = base_clock;
    v.rhs = core::Fby{o.value, o.value};
    o.value = ValueId{core.values.size()};
    core.values.push_back(std::move(v));
  }
  for (CoreAssert& a : core.asserts) {
    const auto& rhs = core[a.condition].rhs;
    if (std::holds_alternative<core::Apply>(rhs) || std::holds_alternative<core::Merge>(rhs) ||
        std::holds_alternative<core::When>(rhs))
      continue;
    Value v = core[a.condition];
    if (!v.clock.valid()) v.clock = base_clock;
    v.rhs = core::Apply{operators().require("logical_and"), {a.condition, a.condition}, {}, 0};
    a.condition = ValueId{core.values.size()};
    core.values.push_back(std::move(v));
  }
  return core;
}

}  // namespace rml
