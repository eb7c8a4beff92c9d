// Runs `rmlc gradcheck`, which prints a table: `diff f` against central differences of f.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <iterator>

#include "compiler/internal_error.h"
#include "compiler/read_file.h"
#include "driver/checks/gradient_check.h"
#include "driver/checks/gradient_inputs.h"
#include "driver/commands/commands.h"
#include "runtime/base/readable.h"

namespace rml {
namespace {

constexpr std::int64_t default_cycles = 12;

std::string rounded(double value, const char* format = "%.6g") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string place(const GradientRow& row) {
  return "cycle " + std::to_string(row.cycle) + (row.element.empty() ? "" : " " + row.element);
}

std::string verdict(const GradientRow& row) {
  if (row.right) return row.compared > 0 ? "right" : "not compared";
  const std::string than = ": " + rounded(row.found) + ", not " + rounded(row.expected);
  return (row.value ? "WRONG VALUE" : "WRONG") + than;
}

void print_table(const GradientReport& report) {
  std::vector<std::array<std::string, 5>> lines = {{"name", "compared", "largest error", "at", "verdict"}};
  for (const GradientRow& row : report.rows) {
    const bool any = row.compared > 0;
    const std::string of = row.places > 0 ? " of " + std::to_string(row.places) : "";
    lines.push_back({row.name, std::to_string(row.compared) + of, any ? rounded(row.error, "%.1e") : "",
                     any ? place(row) : "", verdict(row)});
  }
  std::array<std::size_t, 5> widths{};
  for (const auto& line : lines)
    for (std::size_t k = 0; k < line.size(); ++k) widths[k] = std::max(widths[k], line[k].size());
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t k = 0; k < line.size(); ++k)
      text += line[k] + (k + 1 < line.size() ? std::string(widths[k] - line[k].size() + 2, ' ') : "");
    std::cout << text << "\n";
  }
}

std::optional<std::string> read_source(const std::string& file, Diagnostics& diagnostics) {
  std::string error;
  auto text = read_file(file, error);
  if (!text) diagnostics.report(Code::E0801, {}, "cannot read '" + file + "': " + error);
  return text;
}

}  // namespace

int check_gradient(Invocation& invocation, const GradientRequest& request) {
  Session& session = invocation.session;
  const auto text = read_source(request.file, session.diagnostics);
  if (!text) return exit_fault;
  const std::string name = request.file == "-" ? "<stdin>" : request.file;
  const auto programs = make_gradient_programs(session, {name, *text, request.engine, request.libraries});
  if (!programs) return exit_fault;
  invocation.print_diagnostics();
  const CurrentPhase phase("gradcheck");
  const auto failed = [&](const std::string& why) {
    std::cerr << "rmlc: " << readable_message(why) << "\n";
    return exit_fault;
  };
  std::string error;
  const bool random = request.inputs.empty();
  const std::int64_t wanted = request.cycles < 0 ? default_cycles : request.cycles;
  const auto inputs = random ? random_gradient_inputs(*programs, wanted, request.seed, error)
                             : read_gradient_inputs(*programs, request.inputs, request.cycles, error);
  const std::string mend = random ? "; these inputs are random: give other inputs with --input, or another --seed" : "";
  if (!inputs) return failed(error + mend);
  const std::int64_t cycles = random ? wanted : static_cast<std::int64_t>(inputs->front().cells.size());
  if (cycles == 0) return failed("there are no cycles to check");
  const GradientOptions options{.seed = request.seed, .tolerance = request.tolerance};
  const GradientReport report = check_gradients(*programs, *inputs, cycles, options);
  if (!report.stop.empty()) return failed(report.stop + mend);
  std::cout << "`diff " << programs->node << "` against central differences, " << cycles << " cycles"
            << (programs->widened  ? ", f32 computed in f64"
                : programs->narrow ? ", in f32 (an external node takes part), to " + rounded(report.tolerance)
                                   : "")
            << "\n";
  if (report.rows.empty())
    std::cout << "`" << programs->node << "` has no float input and no parameter\n";
  else
    print_table(report);
  const auto compared = [](const GradientRow& r) { return r.compared > 0; };
  const auto has_places = [](const GradientRow& r) { return r.places > 0; };
  if (std::ranges::none_of(report.rows, has_places)) return report.right() ? exit_success : exit_fault;
  if (std::ranges::none_of(report.rows, compared) && !report.moved_stop.empty())
    return failed("nothing was compared: " + report.moved_stop);
  if (std::ranges::none_of(report.rows, compared))
    return failed("nothing was compared: no gradient is known before the input ends, or none where `" + programs->node +
                  "` is smooth");
  return report.right() ? exit_success : exit_fault;
}

}  // namespace rml
