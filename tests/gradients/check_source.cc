#include "gradients/check_source.h"

#include "driver/base/installation.h"
#include "driver/checks/gradient_check.h"
#include "driver/checks/gradient_inputs.h"
#include "frontend/render.h"

namespace rml::gradients {

CheckedSource check_source(const std::string& source, std::int64_t cycles, std::uint64_t seed) {
  Session session(own_resources());
  session.options.node = "f";
  const auto programs = make_gradient_programs(session, {"case.rml", source, Engine::reference, {}});
  if (!programs) return {render_human(session.diagnostics, session.sources, false), 0};
  std::string error;
  const auto inputs = random_gradient_inputs(*programs, cycles, seed, error);
  if (!inputs) return {error, 0};
  const GradientReport report = check_gradients(*programs, *inputs, cycles, {.seed = seed, .places = 12});
  CheckedSource result{report.stop, 0};
  for (const GradientRow& row : report.rows) {
    result.compared += row.compared;
    if (!row.right)
      result.wrong += row.name + row.element + " in cycle " + std::to_string(row.cycle) + ": " +
                      std::to_string(row.found) + ", not " + std::to_string(row.expected) + "\n";
    if (row.compared == 0) result.wrong += row.name + " is not compared\n";
  }
  return result;
}

}  // namespace rml::gradients
