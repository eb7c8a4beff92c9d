// `rmlc eval F --progressive`: scores each prediction of a program before the program learns from its row.
//
// The program makes a prediction in each row, and learns from the truth of that row. The score is valid only if the
// prediction depends neither on this truth nor on later ones. The command checks that in the core (find_foresight.h)
// and refuses other programs. Then it writes equations of the metrics into the node, as text, so that names of
// parameters and draws of random functions stay those of `rmlc run`. The program runs as by `rmlc run`, and the last
// values of the metrics are printed at the end.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "compiler/engines.h"
#include "compiler/import_model.h"
#include "compiler/read_file.h"
#include "driver/checks/evaluation_metrics.h"
#include "driver/commands/commands.h"
#include "runtime/base/failure.h"
#include "runtime/base/readable.h"
#include "semantics/core/queries.h"
#include "semantics/time/find_foresight.h"

namespace rml {
namespace {

const Port* find_port(const std::vector<Port>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  return found == ports.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& p : ports) names.push_back(p.name);
  return names;
}

void report_missing(const std::string& what, const std::string& name, const std::vector<std::string>& names,
                    Diagnostics& diagnostics) {
  auto& d = diagnostics.report(Code::E0904, {}, "the node has no " + what + " `" + name + "`");
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) d.note("did you mean `" + near + "`?");
}

// Source text for the prediction where the truth is present; nothing if one may be present without the other.
std::optional<std::string> sampled(const Core& core, const WantedMetric& m, ValueId prediction, ValueId truth,
                                   Diagnostics& diagnostics) {
  const ClockId at = core[prediction].clock, wanted = core[truth].clock;
  if (at == wanted || core.is_const(prediction)) return m.prediction;
  const Clock& clock = core[wanted];
  if (at == base_clock && clock.parent == base_clock)
    for (const std::vector<Port>* ports : {&core.inputs, &core.outputs})
      for (const Port& p : *ports)
        if (p.value == clock.condition) return m.prediction + (clock.positive ? " when " : " when not ") + p.name;
  diagnostics
      .report(Code::E0904, core[prediction].span,
              "`" + m.prediction + "` is present at the cycles of `" + clock_string(core, at) + "`, `" + m.truth +
                  "` at those of `" + clock_string(core, wanted) + "`",
              "the prediction")
      .note(
          "both must be present at the same cycles; a prediction of every cycle is sampled if an input or output says "
          "when the truth is present");
  return std::nullopt;
}

class Evaluation {
 public:
  Evaluation(Session& session, const EvalRequest& request) : session_(session), request_(request) {}

  // The program with the metrics; nothing if an error was reported.
  std::unique_ptr<LoadedProgram> load() {
    std::string error;
    if (is_model(request_.file)) {
      session_.diagnostics.report(Code::E0904, {}, "an ONNX model has no truth among its inputs, and does not learn")
          .note("convert it with `rmlc import`, and extend the program");
      return nullptr;
    }
    const auto text = read_file(request_.file, error);
    if (!text) {
      session_.diagnostics.report(Code::E0801, {}, "cannot read '" + request_.file + "': " + error);
      return nullptr;
    }
    name_ = request_.file == "-" ? "<stdin>" : request_.file;
    const auto measured = with_metrics(*text);
    return measured ? compile_text(*measured) : nullptr;
  }

  // Lists the inputs that are truths. Their numbers may be NaN.
  std::vector<std::uint32_t> truths(const rml_program& program) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < program.n_inputs; ++i) {
      const rml_port& port = program.inputs[i];
      if (truths_[i] && port.rank == 0 && (port.dtype == RML_F32 || port.dtype == RML_F64)) found.push_back(i);
    }
    return found;
  }

 private:
  std::optional<std::string> with_metrics(const std::string& text) {
    const Front front = check_text(session_, name_, text);
    if (session_.failed()) return std::nullopt;
    const auto entry = find_entry(session_, front);
    if (!entry) return std::nullopt;
    const auto elaborated = elaborate(session_, front, *entry, {}, session_.diagnostics);
    if (!elaborated) return std::nullopt;
    const Core& core = *elaborated->core;
    truths_.assign(core.inputs.size(), false);
    const Program& program = *front.program;
    const ast::Node& node = program[*entry];
    std::string prefix = "measured_";
    while (text.find(prefix) != std::string::npos) prefix += "_";
    std::string columns, equations;
    std::vector<std::string> taken = names_in(program, node);
    for (const WantedMetric& m : request_.metrics) {
      const auto prediction = check(core, m);
      if (!prediction) continue;
      if (std::ranges::find(taken, m.column) != taken.end())
        session_.diagnostics.report(Code::E0904, {}, "the name `" + m.column + "` is already used")
            .note("give the column of the metric another name: --metric NAME=" + m.name + ":" + m.prediction + ":" +
                  m.truth);
      taken.push_back(m.column);
      columns += ", " + m.column;
      equations += " " + m.column + " = " + prefix + m.name + "(" + *prediction + ", " + m.truth + ");";
    }
    if (session_.failed()) return std::nullopt;
    const ast::Parameter& last = node.outputs.back();
    std::string made = text;
    made.insert(node.span.end, equations);
    made.insert(last.type ? last.type->span.end : last.span.end, columns);
    return made + "\n" + metric_nodes(request_.metrics, request_.over, prefix);
  }

  static std::vector<std::string> names_in(const Program& program, const ast::Node& node) {
    std::vector<std::string> names;
    const auto add = [&](Symbol s) {
      if (s.valid()) names.push_back(program.text(s));
    };
    for (const ast::Parameter& p : node.inputs) add(p.name);
    for (const ast::Parameter& p : node.outputs) add(p.name);
    for (const ast::Equation& e : node.equations)
      for (const ast::Target& t : e.targets) add(t.name);
    return names;
  }

  // Source text for the measured prediction. Returns nothing, and reports a diagnostic, if the metric is not valid.
  std::optional<std::string> check(const Core& core, const WantedMetric& m) {
    Diagnostics& diagnostics = session_.diagnostics;
    const Port* const prediction = find_port(core.outputs, m.prediction);
    if (prediction == nullptr) {
      report_missing("output", m.prediction, names_of(core.outputs), diagnostics);
      return std::nullopt;
    }
    const Port* truth = find_port(core.inputs, m.truth);
    if (truth == nullptr) truth = find_port(core.outputs, m.truth);
    if (truth == nullptr) {
      std::vector<std::string> names = names_of(core.inputs);
      for (const Port& p : core.outputs) names.push_back(p.name);
      report_missing("input or output", m.truth, names, diagnostics);
      return std::nullopt;
    }
    if (!check_metric(m, core[prediction->value], core[truth->value], request_.over, diagnostics)) return std::nullopt;
    if (!check_honest(core, *prediction, *truth)) return std::nullopt;
    return sampled(core, m, prediction->value, truth->value, diagnostics);
  }

  bool check_honest(const Core& core, const Port& prediction, const Port& truth) {
    const std::vector<Foresight> used = find_foresight(core, prediction.value);
    bool honest = true;
    // A flag that says whether there is a truth does not reveal the truth.
    const auto is_flag = [&](ValueId input) {
      return std::ranges::any_of(ancestors(core, core[truth.value].clock),
                                 [&](ClockId c) { return core[c].condition == input; });
    };
    for (const Foresight& of_truth : find_foresight(core, truth.value)) {
      if (is_flag(of_truth.input)) continue;
      const auto index = std::ranges::find(core.inputs, of_truth.input, &Port::value) - core.inputs.begin();
      truths_[static_cast<std::size_t>(index)] = true;
      const auto found = std::ranges::find(used, of_truth.input, &Foresight::input);
      if (found == used.end()) continue;
      report_foresight(core, prediction, core.inputs[static_cast<std::size_t>(index)], *found);
      honest = false;
    }
    return honest;
  }

  void report_foresight(const Core& core, const Port& prediction, const Port& truth, const Foresight& foresight) {
    const std::string when = foresight.later ? "of later rows" : "of the same row";
    auto& d = session_.diagnostics.report(
        Code::E0904, prediction.span,
        "the prediction `" + prediction.name + "` depends on the truth `" + truth.name + "` " + when,
        "it is known only after the truth");
    // The values that the user has named, each of them once.
    std::vector<ValueId> named;
    for (const ValueId v : foresight.way)
      if (!core[v].name.empty()) named.push_back(v);
    std::string from = prediction.name;
    for (const ValueId v : named) {
      const std::string to = describe(core, v);
      if (to != from) d.note("`" + from + "` depends on `" + to + "`");
      from = to;
    }
    d.note("predict with the parameters that earlier rows have learned: `0.0 fby …` is the value of the previous row");
  }

  // The text has been checked before, except for the added equations.
  std::unique_ptr<LoadedProgram> compile_text(const std::string& text) {
    measured_.emplace(session_.resources);
    Session& session = *measured_;
    session.options = session_.options;
    auto program = compile_in(session, text);
    if (program) return program;
    session_.sources = std::move(session.sources);
    session_.diagnostics = std::move(session.diagnostics);
    return nullptr;
  }

  std::unique_ptr<LoadedProgram> compile_in(Session& session, const std::string& text) {
    const Front front = check_text(session, name_, text);
    const auto entry = session.failed() ? std::nullopt : find_entry(session, front);
    if (!entry) return nullptr;
    const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
    if (!elaborated) return nullptr;
    if (request_.engine == Engine::reference) return load_reference(session, elaborated->core, request_.libraries);
    const auto arranged = arrange(session, *elaborated, session.diagnostics);
    return arranged ? load_compiled(session, lower(session, *arranged), request_.libraries) : nullptr;
  }

  Session& session_;
  const EvalRequest& request_;
  std::string name_;
  std::vector<bool> truths_;
  std::optional<Session> measured_;  // session of the measured program; it must live as long as the program
};

// The values that are watched during a run. Functions of the table get only the state, and a command runs one program,
// so this is global.
struct Watch {
  const rml_program* program = nullptr;
  std::vector<std::uint32_t> truths;  // indices of the inputs that are truths, whose numbers may be NaN
  std::uint32_t first = 0;            // index of the first output that is a metric
  std::vector<double> values;
  std::vector<std::int64_t> rows;
};
thread_local Watch watch;

double value_of(const rml_port& port, const void* data) {
  return port.dtype == RML_F32 ? static_cast<double>(*static_cast<const float*>(data))
                               : *static_cast<const double*>(data);
}

[[noreturn]] void refuse_truth(const rml_port& port, const void* state) {
  throw rt::Failure(std::string("the truth '") + port.name + "' is NaN in cycle " +
                    std::to_string(static_cast<const rml_header*>(state)->pushed) +
                    ": if a row has no truth, make it absent, `" + port.name +
                    ": f64 when given`, with --missing absent");
}

std::int32_t push(void* state, const void* const* in, const std::uint8_t* present) {
  const rml_program& program = *watch.program;
  for (const std::uint32_t i : watch.truths) {
    const rml_port& port = program.inputs[i];
    if ((port.always != 0 || present[i] != 0) && std::isnan(value_of(port, in[i]))) refuse_truth(port, state);
  }
  return program.push(state, in, present);
}

std::int32_t pop(void* state, void* const* out, std::uint8_t* present) {
  const rml_program& program = *watch.program;
  const std::int32_t there = program.pop(state, out, present);
  for (std::uint32_t k = 0; there == 1 && k < watch.values.size(); ++k) {
    const std::uint32_t i = watch.first + k;
    if (program.outputs[i].always == 0 && present[i] == 0) continue;
    watch.values[k] = value_of(program.outputs[i], out[i]);
    ++watch.rows[k];
  }
  return there;
}

bool names(const std::vector<std::string>& arguments, const std::string& option) {
  return std::ranges::any_of(arguments,
                             [&](const std::string& a) { return a == option || a.starts_with(option + "="); });
}

// True if rows go to standard output, so that the table of metrics must go elsewhere.
bool rows_on_stdout(const std::vector<std::string>& arguments) {
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k] == "--output=-" ||
        (arguments[k] == "--output" && k + 1 < arguments.size() && arguments[k + 1] == "-"))
      return true;
  return false;
}

int print_table(const EvalRequest& request) {
  std::vector<std::array<std::string, 3>> lines = {{"metric", "rows", "value"}};
  int status = exit_success;
  for (std::size_t k = 0; k < request.metrics.size(); ++k) {
    const std::int64_t rows = std::max<std::int64_t>(watch.rows[k] - request.over.warm_up, 0);
    const std::string& column = request.metrics[k].column;
    if (rows == 0) {
      std::cerr << "rmlc: " << readable_message(column) << " has no rows to measure: "
                << (watch.rows[k] == 0 ? "no row of the input has a truth"
                                       : "all " + std::to_string(watch.rows[k]) + " belong to the warm-up")
                << "\n";
      status = exit_fault;
    }
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.6g", watch.values[k]);
    lines.push_back({column, std::to_string(rows), rows == 0 ? "" : text.data()});
  }
  if (status != exit_success) return status;
  std::array<std::size_t, 2> widths{};
  for (const auto& line : lines)
    for (std::size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], line[k].size());
  std::ostream& to = rows_on_stdout(request.program_arguments) ? std::cerr : std::cout;
  for (const auto& [column, rows, value] : lines)
    to << column << std::string(widths[0] - column.size() + 2, ' ') << std::string(widths[1] - rows.size(), ' ') << rows
       << "  " << value << "\n";
  return status;
}

}  // namespace

int evaluate(Invocation& invocation, const EvalRequest& request) {
  if (names(request.program_arguments, "--key")) {
    std::cerr << "rmlc: --key: a metric measures the rows of one instance, but every key has its own instance; measure "
                 "one key alone, "
                 "with --key-seed KEY\n";
    return exit_usage;
  }
  for (const char* const option : {"--epochs", "--repeat", "--shuffle", "--validate", "--patience", "--goal"}) {
    if (!names(request.program_arguments, option)) continue;
    std::cerr
        << "rmlc: " << option
        << ": each prediction is scored once, before the program learns from its row; rmlc run trains in epochs\n";
    return exit_usage;
  }
  invocation.session.options.early_rows = EarlyRows::never;
  Evaluation evaluation(invocation.session, request);
  const auto loaded = evaluation.load();
  invocation.print_diagnostics();
  if (!loaded) return exit_fault;
  rml_program program = loaded->table();
  const auto count = static_cast<std::uint32_t>(request.metrics.size());
  watch = {&loaded->table(), evaluation.truths(program), program.n_outputs - program.n_watched - count,
           std::vector<double>(count), std::vector<std::int64_t>(count)};
  program.push = push;
  program.pop = pop;
  // hides rows that were not requested, as for variables that are not watched
  if (!names(request.program_arguments, "--output")) program.n_watched = program.n_outputs;
  std::vector<std::string> arguments{"rmlc eval " + request.file};
  arguments.insert(arguments.end(), request.program_arguments.begin(), request.program_arguments.end());
  const int status = run_in_memory(invocation.session, program, std::move(arguments), request.libraries);
  return status == exit_success ? print_table(request) : status;
}

}  // namespace rml
