// `rmlc trace`: a chronogram of inputs, outputs and watched variables, by the reference engine. A run that stops early,
// at a fault or at a row that cannot be read, shows all values known until then, and the reason. Inputs are read and
// rows written by the same code as for programs.
#include <algorithm>
#include <cstring>
#include <iostream>

#include "compiler/engines.h"
#include "compiler/internal_error.h"
#include "compiler/port_table.h"
#include "compiler/watch_values.h"
#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "runtime/base/rmlrt.h"
#include "runtime/stream_io/endpoints/endpoints.h"
#include "runtime/stream_io/endpoints/old_rows.h"
#include "runtime/stream_io/endpoints/open_endpoints.h"
#include "semantics/reference/interpret.h"

namespace rml {
namespace {

std::string format_of(const TraceRequest& request) { return request.format.empty() ? "chron" : request.format; }

// The rows to show: inputs, watched variables, outputs.
std::optional<std::vector<Port>> rows_to_show(Session& session, const Core& core, const TraceRequest& request) {
  std::vector<Port> rows = core.inputs;
  const auto add = [&](const std::vector<Port>& more) {
    for (const Port& p : more)
      if (std::ranges::find(rows, p.name, &Port::name) == rows.end()) rows.push_back(p);
  };
  for (const std::string& wanted : request.watches) {
    std::vector<Port> found = matching_watches(core, wanted, session.diagnostics);
    if (found.empty()) return std::nullopt;
    std::erase_if(found, [&](const Port& p) {
      return std::ranges::find(core.outputs, p.name, &Port::name) != core.outputs.end();
    });
    add(found);
  }
  add(core.outputs);
  return rows;
}

// Converts rows of input files to cells of the interpreter.
class TraceInput {
 public:
  TraceInput(const Core& core, const std::vector<rt::Endpoint>& from, PortTable& ports)
      : core_(core),
        row_(ports.rows().data(), static_cast<std::uint32_t>(ports.rows().size())),
        source_(rt::open_sources(from, row_, {})) {}

  // Returns nothing at the end of the input.
  std::optional<std::vector<Cell>> next() {
    if (source_ != nullptr && !source_->read()) return std::nullopt;
    std::vector<Cell> cells;
    for (std::uint32_t i = 0; i < row_.size(); ++i) {
      const Value& input = core_[core_.inputs[i].value];
      Cell& cell = cells.emplace_back();
      cell.presence = Presence::absent;
      if (!row_.is_present(i)) continue;
      cell = {Presence::present, Tensor(input.dtype, input.shape)};
      if (cell.value.bytes() > 0) std::memcpy(cell.value.data(), row_.data(i), cell.value.bytes());
    }
    return cells;
  }
  // The place of the value that was read last.
  std::string place(std::uint32_t input) const { return source_->place(input); }

 private:
  const Core& core_;
  rt::Row row_;
  std::unique_ptr<rt::RowSource> source_;  // reads the input files; null: the program has no inputs
};

std::string fault_text(const Core& core, const SourceMap& sources, const TraceInput& input, const RunFault& fault) {
  const std::string cycle = " in cycle " + std::to_string(fault.cycle);
  if (fault.assertion != UINT32_MAX) {
    const CoreAssert& a = core.asserts[fault.assertion];
    return sources.place(a.span) + ": assertion failed" + cycle + (a.message.empty() ? "" : ": " + a.message);
  }
  if (fault.input != UINT32_MAX) {
    const Port& p = core.inputs[fault.input];
    return input.place(fault.input) + ": input '" + p.name + "' is " + (fault.fault.bound == 1 ? "present" : "absent") +
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
      return place + ": the run cannot continue" + cycle;
  }
}

// Runs the interpreter over the input; at most `most` cycles unless that is negative. Returns the fault that ended the
// run, or an empty text.
std::string run(Interpreter& interpreter, const Core& core, const SourceMap& sources, TraceInput& input,
                std::int64_t most) {
  std::string fault;
  try {
    while (fault.empty() && (most < 0 || interpreter.pushed() < most)) {
      auto row = input.next();
      if (!row) break;
      if (const auto failed = interpreter.push(std::move(*row))) fault = fault_text(core, sources, input, *failed);
      while (interpreter.pop()) {
      }
    }
  } catch (const rt::Failure& failure) {
    fault = failure.what();
  }
  interpreter.finish();
  return fault;
}

// Writes the shown rows to files, as a run does. Only a chronogram can show that a cell is undetermined; other formats
// treat it as absent.
class TraceOutput {
 public:
  TraceOutput(const Core& core, const std::vector<Port>& shown, const TraceRequest& request)
      : request_(request), table_(core, shown) {
    plan();
  }

  const std::vector<rt::Endpoint>& endpoints() const { return endpoints_; }

  // Finds the cells that are texts, in the inputs and in the shown rows.
  void use_texts(std::vector<rt::Endpoint>& from, const rt::Row& inputs) {
    const rt::Row shown(table_.rows().data(), static_cast<std::uint32_t>(table_.rows().size()));
    texts_.emplace(request_.reading, inputs, shown);
    rt::use_texts(*texts_, inputs, from, shown, endpoints_);
  }

  void write(const Chronogram& shown) {
    const std::size_t cycles = shown.empty() ? 0 : shown.front().cells.size();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      rml_port& port = table_.rows()[i];
      const auto is_there = [](const Cell& cell) { return cell.presence == Presence::present; };
      if (port.always == 0 || std::ranges::all_of(shown[i].cells, is_there)) continue;
      port.always = 0;
      port.clock = "base, but unknown at the end";
    }
    plan();
    rt::Row row(table_.rows().data(), static_cast<std::uint32_t>(table_.rows().size()));
    std::vector<std::unique_ptr<rt::RowSink>> sinks;
    for (const rt::Endpoint& to : endpoints_) {
      if (to.format == rt::Format::chron)
        write_chronogram(to, shown);
      else
        sinks.push_back(rt::open_sink(to, row));
    }
    for (std::size_t n = 0; n < cycles; ++n) {
      for (std::uint32_t i = 0; i < row.size(); ++i) {
        const Cell& cell = shown[i].cells[n];
        row.set_present(i, cell.presence == Presence::present);
        if (row.is_present(i) && cell.value.bytes() > 0)
          std::memcpy(row.data(i), cell.value.data(), cell.value.bytes());
      }
      for (const auto& sink : sinks) sink->write();
    }
    for (const auto& sink : sinks) sink->close();
  }

 private:
  void plan() {
    const rt::Row row(table_.rows().data(), static_cast<std::uint32_t>(table_.rows().size()));
    endpoints_ = rt::plan_endpoints(rt::Direction::out, request_.outputs, format_of(request_), row);
    rt::append_to_files(endpoints_, false);
    for (rt::Endpoint& to : endpoints_)
      if (texts_) to.texts = &*texts_;
  }

  static void write_chronogram(const rt::Endpoint& to, const Chronogram& shown) {
    Chronogram part;
    for (const std::uint32_t i : to.ports) part.push_back(shown[i]);
    rt::ByteSink bytes = rt::ByteSink::open(to.path, to.gzip);
    bytes.append(print_chronogram(part));
    bytes.close();
  }

  const TraceRequest& request_;
  PortTable table_;
  std::vector<rt::Endpoint> endpoints_;
  std::optional<rt::ColumnTexts> texts_;
};

void refuse_peers(const std::vector<rt::Endpoint>& endpoints) {
  for (const rt::Endpoint& e : endpoints)
    if (e.peer || e.silence)
      throw rt::Failure("rmlc trace: '" + e.path + "' is a live stream; a trace reads and writes files only",
                        exit_usage);
}

int trace(Session& session, const Core& core, const std::vector<Port>& shown, const CallExternal& call,
          const TraceRequest& request) {
  PortTable ports(core, core.inputs);
  const rt::Row row(ports.rows().data(), static_cast<std::uint32_t>(ports.rows().size()));
  auto from = rt::plan_endpoints(rt::Direction::in, request.inputs, format_of(request), row, request.reading);
  TraceOutput output(core, shown, request);
  refuse_peers(from);
  refuse_peers(output.endpoints());
  rt::refuse_overlap(from, output.endpoints());
  output.use_texts(from, row);
  for (const rt::Endpoint& to : output.endpoints())
    if (to.path != "-" && !overwrites_none(to.path, session.files_read(), session.diagnostics)) return exit_fault;
  TraceInput input(core, from, ports);
  const CurrentPhase phase("interpret");
  Interpreter interpreter(core, request.seed, call);
  std::vector<ValueId> watched;
  for (const Port& p : shown) watched.push_back(p.value);
  interpreter.watch(watched);
  const std::string fault = run(interpreter, core, session.sources, input, request.cycles);
  Chronogram rows;
  for (const Port& p : shown) {
    rows.push_back({p.name, interpreter.history(p.value)});
    rows.back().cells.resize(static_cast<std::size_t>(std::max<std::int64_t>(interpreter.pushed(), 0)));
  }
  output.write(rows);
  if (!fault.empty()) std::cerr << readable_message(fault) << "\n";
  return fault.empty() ? exit_success : exit_fault;
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
  const auto shown = rows_to_show(session, core, request);
  if (!shown) return exit_fault;
  if (core.inputs.empty() && request.cycles < 0) {
    std::cerr << "rmlc: node '" << core.entry << "' has no inputs: say how many cycles with --cycles N\n";
    return exit_usage;
  }
  if (!core.inputs.empty() && request.inputs.empty()) {
    session.diagnostics.report(Code::E0801, {},
                               "node '" + core.entry + "' has inputs: give their rows with --input FILE");
    return exit_fault;
  }
  const auto call = external_caller(session, core, request.libraries);
  if (!call) return exit_fault;
  try {
    return trace(session, core, *shown, *call, request);
  } catch (const rt::Failure& failure) {
    std::cerr << readable_message(failure.what()) << "\n";
    return failure.status();
  }
}

}  // namespace rml
