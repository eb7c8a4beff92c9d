#include "fuzz/check_differences.h"

#include <algorithm>

#include "driver/base/installation.h"
#include "driver/checks/gradient_check.h"
#include "driver/checks/gradient_inputs.h"
#include "frontend/render.h"

namespace rml::fuzz {

namespace {

constexpr std::int64_t places = 4;

std::string text(const GradientRow& row) {
  return row.name + row.element + " in cycle " + std::to_string(row.cycle) + (row.value ? " is " : " has gradient ") +
         std::to_string(row.found) + ", not " + std::to_string(row.expected);
}

}  // namespace

bool is_unproductive(const Diagnostics& diagnostics) {
  return std::ranges::all_of(diagnostics.all(), [](const Diagnostic& d) {
    return severity(d.code) != Severity::error || code_name(d.code).substr(0, 3) == "E05" || d.code == Code::E0701;
  });
}

Report check_differences(const GeneratedProgram& g, std::uint64_t seed, const std::string& node) {
  Session session(own_resources());
  session.options.node = node;
  const auto programs = make_gradient_programs(session, {"generated.rml", g.source, Engine::reference, {}});
  if (!programs) {
    const bool none = std::ranges::any_of(session.diagnostics.all(), [](const Diagnostic& d) {
      return d.code == Code::E0601 || d.message.find("has no second derivative") != std::string::npos;
    });
    return {none                                   ? without
            : is_unproductive(session.diagnostics) ? rejected
                                                   : failed,
            render_human(session.diagnostics, session.sources, false)};
  }
  std::string error;
  const auto inputs = random_gradient_inputs(*programs, g.cycles, seed, error);
  if (!inputs) return {failed, error};
  const GradientReport report = check_gradients(*programs, *inputs, g.cycles, {.seed = seed, .places = places});
  if (!report.stop.empty()) return {stopped, report.stop};
  bool compared = false;
  for (const GradientRow& row : report.rows) {
    if (!row.right) return {differs, text(row)};
    compared |= row.compared > 0;
  }
  return {compared ? agrees : idle, ""};
}

}  // namespace rml::fuzz
