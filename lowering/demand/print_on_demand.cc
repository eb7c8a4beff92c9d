// Prints equations in the order of their numbers.
#include "lowering/demand/on_demand.h"
#include "semantics/core/expression_text.h"

namespace rml::steps {

namespace {

// A variable and its equation; another value is its expression alone.
std::string line(const Core& core, ValueId v, const std::string& readable) {
  const std::string& name = core[v].name;
  const bool input = std::holds_alternative<core::Input>(core[v].rhs);
  return (name.empty() || input ? readable : name + " := " + right_side(core, v)) + "\n";
}

}  // namespace

std::string print_on_demand(const Program& p) {
  const Core& core = *p.core;
  const OnDemand& demand = *p.on_demand;
  const std::vector<std::string> names = readable_names(core);
  std::string text = "program " + core.entry + ", on demand\n";
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const ValueId v{i};
    const bool part = demand.body_of[i] == UINT32_MAX && std::holds_alternative<core::Apply>(core.values[i].rhs);
    if (core.is_const(v) || (!demand.asked[i] && !part)) continue;
    text += (part && !demand.asked[i] ? "    " : "  ") + line(core, v, names[i]);
  }
  return text;
}

}  // namespace rml::steps
