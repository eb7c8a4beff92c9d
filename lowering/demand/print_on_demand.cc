// Prints equations in the order of their numbers.
#include "lowering/demand/on_demand.h"
#include "semantics/core/core_text.h"

namespace rml::steps {

namespace {

std::string line(const Core& core, ValueId v) {
  const std::string& name = core[v].name;
  return id_text(v) + (name.empty() ? "" : " " + name) + " := " + equation_text(core, v) + "\n";
}

}  // namespace

std::string print_on_demand(const Program& p) {
  const Core& core = *p.core;
  const OnDemand& demand = *p.on_demand;
  std::string text = "program " + core.entry + ", on demand\n";
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const ValueId v{i};
    const bool part = demand.body_of[i] == UINT32_MAX && std::holds_alternative<core::Apply>(core.values[i].rhs);
    if (core.is_const(v) || (!demand.asked[i] && !part)) continue;
    text += (part && !demand.asked[i] ? "    " : "  ") + line(core, v);
  }
  return text;
}

}  // namespace rml::steps
