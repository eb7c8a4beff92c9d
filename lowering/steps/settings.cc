// Finds the cells, and prints the functions as C99.
#include "lowering/steps/settings.h"

#include <algorithm>
#include <set>

#include "lowering/signature.h"

namespace rml::c99 {

namespace {

bool begins_constant(const Core& core, const steps::CellInfo& cell) {
  const auto* fby = cell.fby.valid() ? std::get_if<core::Fby>(&core[cell.fby].rhs) : nullptr;
  return fby != nullptr && core.is_const(fby->init);
}

bool is_window(const steps::Program& program, CellId cell) {
  return std::ranges::any_of(program.windows, [&](const auto& w) { return w.second.cell == cell; });
}

}  // namespace

std::vector<Setting> settings(const steps::Program& program) {
  std::vector<Setting> list;
  if (!program.straight || program.network) return list;
  std::set<std::string> taken;
  for (const rml::Port& port : program.core->outputs) taken.insert(port.name);
  for (const steps::ParameterInfo& p : program.parameters) {
    if (p.path.empty() || !p.cell.valid()) continue;
    const steps::CellInfo& cell = program.cells[p.cell.index];
    if (cell.local || !begins_constant(*program.core, cell) || is_window(program, p.cell)) continue;
    if (std::ranges::any_of(list, [&](const Setting& s) { return s.cell == p.cell; })) continue;
    std::string name = word_of(p.path);
    while (!taken.insert(name).second) name += '_';
    list.push_back({p.path, name, p.dtype, p.shape, p.cell});
  }
  return list;
}

std::string settings_text(const std::vector<Setting>& list, const std::vector<SettingPlace>& places) {
  if (list.empty()) return {};
  std::string text =
      "/* The parameters. A value that is set counts from the next cycle on, until NAME_reset. It is part of the\n"
      " * state. A tensor is an array of all its elements. */\n";
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Setting& s = list[k];
    const auto& [read, write, after] = places[k];
    const std::string type = port_type(s.dtype);
    const std::string bytes = std::to_string(element_count(s.shape).value_or(0)) + " * sizeof *value";
    const std::string head = "static inline ", state = "NAME_state* state";
    if (s.shape.empty()) {
      const std::string given = s.dtype == DType::boolean ? "  value = value != 0;\n" : "";
      text += head + type + " NAME_get_" + s.name + "(const " + state + ") {\n  " + type +
              " value;\n  memcpy(&value, " + read + ", sizeof value);\n  return value;\n}\n";
      text += head + "void NAME_set_" + s.name + "(" + state + ", " + type + " value) {\n" + given + "  memcpy(" +
              write + ", &value, sizeof value);\n" + after + "}\n";
    } else {
      text += "/* " + s.path + ": " + type_string(s.dtype, s.shape) + " */\n";
      text += head + "void NAME_get_" + s.name + "(const " + state + ", " + type + "* value) {\n  memcpy(value, " +
              read + ", " + bytes + ");\n}\n";
      text += head + "void NAME_set_" + s.name + "(" + state + ", const " + type + "* value) {\n  memcpy(" + write +
              ", value, " + bytes + ");\n" + after + "}\n";
    }
  }
  return text;
}

}  // namespace rml::c99
