// `rmlc trace`: a chronogram of inputs, outputs and watched variables, by the reference
// engine. A run that stops early shows what was known until then, and why it stopped.
#include <algorithm>
#include <iostream>

#include "compiler/engines.h"
#include "compiler/internal_error.h"
#include "compiler/read_file.h"
#include "compiler/watch_values.h"
#include "driver/commands.h"
#include "runtime/readable.h"
#include "runtime/rmlrt.h"
#include "semantics/interpret.h"

namespace rml {
namespace {

std::vector<ChronogramPort> input_ports(const Core& core) {
  std::vector<ChronogramPort> result;
  for (const Port& p : core.inputs) result.push_back({p.name, core[p.value].dtype, core[p.value].shape});
  return result;
}

std::optional<Chronogram> read_inputs(Session& session, const Core& core, const TraceRequest& request) {
  if (core.inputs.empty()) return Chronogram{};
  if (request.input.empty()) {
    session.diagnostics.report(Code::E0801, {},
                               "node '" + core.entry + "' has inputs: give their chronogram with --input");
    return std::nullopt;
  }
  std::string error;
  const auto text = read_file(request.input, error);
  auto rows = text ? read_chronogram(*text, input_ports(core), error) : std::nullopt;
  if (!rows) session.diagnostics.report(Code::E0801, {}, "cannot read '" + request.input + "': " + error);
  for (const ChronogramRow& row : rows.value_or(Chronogram{})) {
    for (const Cell& cell : row.cells) {
      if (cell.presence != Presence::undetermined) continue;
      session.diagnostics.report(Code::E0801, {}, "'" + request.input + "': an input cannot be undetermined ('?')");
      return std::nullopt;
    }
  }
  return rows;
}

// The rows to show: inputs, watched variables, outputs.
std::optional<std::vector<Port>> rows_to_show(Session& session, const Core& core, const TraceRequest& request) {
  std::vector<Port> rows = core.inputs;
  for (const std::string& wanted : request.watches) {
    const std::vector<Port> found = matching_watches(core, wanted, session.diagnostics);
    if (found.empty()) return std::nullopt;
    rows.insert(rows.end(), found.begin(), found.end());
  }
  rows.insert(rows.end(), core.outputs.begin(), core.outputs.end());
  return rows;
}

std::string fault_text(const Core& core, const SourceMap& sources, const RunFault& fault) {
  const std::string cycle = " in cycle " + std::to_string(fault.cycle);
  if (fault.assertion != UINT32_MAX) {
    const CoreAssert& a = core.asserts[fault.assertion];
    return sources.place(a.span) + ": assertion failed" + cycle + (a.message.empty() ? "" : ": " + a.message);
  }
  if (fault.input != UINT32_MAX) {
    const Port& p = core.inputs[fault.input];
    return sources.place(p.span) + ": input '" + p.name + "' is " + (fault.fault.bound == 1 ? "present" : "absent") +
           cycle + ", against its clock " + clock_string(core, core[p.value].clock);
  }
  const std::string place = sources.place(fault.equation->span);
  switch (fault.fault.kind) {
    case RML_FAULT_DIVISION:
      return place + ": division by zero" + cycle;
    case RML_FAULT_INDEX:
      return place + ": index " + std::to_string(fault.fault.value) + " is not in [0, " +
             std::to_string(fault.fault.bound) + ")" + cycle;
    default:
      return place + ": the run cannot go on" + cycle;
  }
}

// The fault that ended it, or an empty text.
std::string run(Interpreter& interpreter, const Core& core, const SourceMap& sources, const Chronogram& inputs,
                std::int64_t cycles) {
  std::string fault;
  for (std::int64_t n = 0; n < cycles && fault.empty(); ++n) {
    std::vector<Cell> row;
    for (const ChronogramRow& r : inputs) row.push_back(r.cells[static_cast<std::size_t>(n)]);
    if (const auto failed = interpreter.push(std::move(row))) fault = fault_text(core, sources, *failed);
    while (interpreter.pop()) {
    }
  }
  interpreter.finish();
  return fault;
}

}  // namespace

int trace(Invocation& invocation, const TraceRequest& request) {
  Session& session = invocation.session;
  const Front front = check(session, request.file);
  if (session.failed()) return exit_fault;
  const auto entry = find_entry(session, front);
  if (!entry) return exit_fault;
  const auto elaborated = elaborate(session, front, *entry, {.keep_watches = true}, session.diagnostics);
  if (!elaborated) return exit_fault;
  const Core& core = *elaborated->core;
  const auto inputs = read_inputs(session, core, request);
  const auto rows = rows_to_show(session, core, request);
  if (!inputs || !rows) return exit_fault;
  if (core.inputs.empty() && request.cycles < 0) {
    std::cerr << "rmlc: node '" << core.entry << "' has no inputs: say how many cycles with --cycles N\n";
    return exit_usage;
  }
  const auto given = inputs->empty() ? std::int64_t{0} : static_cast<std::int64_t>(inputs->front().cells.size());
  const std::int64_t cycles = core.inputs.empty()  ? request.cycles
                              : request.cycles < 0 ? given
                                                   : std::min(given, request.cycles);
  const auto call = external_caller(session, core, request.libraries);
  if (!call) return exit_fault;
  const CurrentPhase phase("interpret");
  Interpreter interpreter(core, request.seed, *call);
  std::vector<ValueId> watched;
  for (const Port& p : *rows) watched.push_back(p.value);
  interpreter.watch(watched);
  const std::string fault = run(interpreter, core, session.sources, *inputs, cycles);
  Chronogram shown;
  for (const Port& p : *rows) {
    shown.push_back({p.name, interpreter.history(p.value)});
    shown.back().cells.resize(static_cast<std::size_t>(std::max<std::int64_t>(interpreter.pushed(), 0)));
  }
  std::cout << print_chronogram(shown);
  if (!fault.empty()) std::cerr << readable_message(fault) << "\n";
  return fault.empty() ? exit_success : exit_fault;
}

}  // namespace rml
