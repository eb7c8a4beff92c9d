// Differential fuzzing: every generated program must have the same outputs in the reference
// engine and in compiled code at -O0 and -O2, also if its state is saved and loaded after every
// cycle.
//
//   differential_fuzz [--operations | --derivatives | --wide | --threads | --parts | --network | --instances
//                      | --gradients [--reference]]
//                     [--from SEED] [--count N] [--jobs N] [--print SEED]
//
// Modes:
// - --gradients: the programs train a node, whose gradients are first compared with central
//   differences; --reference stops after that.
// - --operations: the programs apply operators of the table to inputs. Without --strict-math,
//   results may differ by rounding.
// - --derivatives: the programs compute the gradient of one operator, and the gradient of that
//   gradient. Both are first compared with central differences.
// - --wide: layers and trainings on larger tensors, also compiled for whole segments and with
//   --fast-math.
// - --threads, --parts, --network: programs of all modes must give the same bits in any number of
//   threads, with statements compiled in parts, or as networks of tasks.
// - --instances: these checks for programs that call nodes within branches, under conditions that
//   other instances computed.
//
// Each worker process takes every jobs-th seed and reports one letter per program through a pipe.
// If a worker dies, its current seed is reported. Programs that the checker rejects and programs
// without a static schedule are counted; a random `post` may cause a real causality cycle. Every
// other disagreement is a failure. Compiled code may leave rows open that the reference
// determines only at the end of a run: in the last segment, or within the lookahead of a post.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "compiler/engines.h"
#include "compiler/pipeline.h"
#include "driver/base/installation.h"
#include "driver/programs/drive_program.h"
#include "frontend/render.h"
#include "fuzz/check_differences.h"
#include "fuzz/check_threads.h"
#include "fuzz/draw_operation.h"
#include "fuzz/generate_gradient_program.h"
#include "fuzz/generate_instances.h"
#include "fuzz/generate_wide_program.h"
#include "lowering/schedule/check/validate_schedule.h"

namespace rml::fuzz {

namespace {

template <class T>
bool near(const Tensor& a, const Tensor& b, double tolerance) {
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.as<T>()[i], y = b.as<T>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= tolerance * std::max({std::fabs(x), std::fabs(y), 1.0}))) return false;
  }
  return true;
}

// Floats may differ by `tolerance` times the larger one or 1; with 0 they must be equal.
bool same_cell(const Cell& a, const Cell& b, double tolerance) {
  if (a.presence != b.presence) return false;
  if (a.presence != Presence::present || a.value == b.value) return true;
  if (a.value.dtype() != b.value.dtype() || a.value.shape() != b.value.shape()) return false;
  if (a.value.dtype() == DType::f64) return near<double>(a.value, b.value, tolerance);
  return a.value.dtype() == DType::f32 && near<float>(a.value, b.value, tolerance);
}

std::string text(const Cell& c) { return c.presence == Presence::present ? to_string(c.value) : "absent"; }

bool row_known(const Chronogram& rows, std::size_t cycle) {
  for (const ChronogramRow& r : rows)
    if (r.cells[cycle].presence == Presence::undetermined) return false;
  return true;
}

// Returns the number of rows that must be determined. It ends at the last segment end whose
// distance from the end of the run exceeds any lookahead, since a unit may wait for everything
// that it reads.
std::size_t settled(const GeneratedProgram& g) {
  constexpr std::size_t lookahead = 6;
  std::size_t cycles = 0;
  for (std::size_t k = 0; k + lookahead < static_cast<std::size_t>(g.cycles); ++k)
    if (g.inputs[0].cells[k].value.truth()) cycles = k + 1;
  return cycles;
}

// Adds cycles with every combination of the Boolean inputs. If several conditions may end a
// recurrence, the schedule waits for one of them and the reference engine for any. In the added
// cycles all of them become true.
GeneratedProgram with_every_combination(GeneratedProgram g) {
  std::size_t booleans = 0;
  const auto is_boolean = [](const ChronogramRow& row) { return row.cells[0].value.dtype() == DType::boolean; };
  for (const ChronogramRow& row : g.inputs) booleans += is_boolean(row) ? 1 : 0;
  // Rows for each combination of the Booleans, in two adjacent cycles.
  const std::size_t added = std::size_t{2} << booleans;
  std::size_t boolean = 0;
  for (ChronogramRow& row : g.inputs) {
    const std::size_t bit = is_boolean(row) ? boolean++ : 0;
    for (std::size_t k = 0; k < added; ++k)
      row.cells.push_back(is_boolean(row) ? Cell{Presence::present, Tensor::boolean((k / 2 >> bit & 1) != 0)}
                                          : Cell(row.cells[k / 2]));
  }
  g.cycles += static_cast<std::int64_t>(added);
  return g;
}

// The largest relative difference that rounding may cause within the few cycles of a program.
constexpr double rounding = 1e-3;

bool breaks_assumption(const Driven& run) { return run.stop.find("assumes never happens") != std::string::npos; }

// True if the program has no value at some cycle for these inputs and the schedule reports a
// broken assumption.
bool assumption_broken(const GeneratedProgram& g, const Driven& want, const Driven& got) {
  if (!breaks_assumption(got)) return false;
  for (std::size_t k = 0; k < static_cast<std::size_t>(g.cycles); ++k)
    if (!row_known(want.outputs, k)) return true;
  return false;
}

// The rows of the first `due` cycles must be known.
std::string compare(const GeneratedProgram& g, std::size_t due, const Driven& want, const Driven& got,
                    double tolerance = 0) {
  if (want.stop.empty() && assumption_broken(g, want, got)) return "";
  if (want.stop != got.stop || want.stop_cycle != got.stop_cycle)
    return "stops `" + want.stop + "` at " + std::to_string(want.stop_cycle) + " against `" + got.stop + "` at " +
           std::to_string(got.stop_cycle);
  if (!want.stop.empty()) return "";
  for (std::size_t k = 0; k < static_cast<std::size_t>(g.cycles); ++k) {
    const bool a = row_known(want.outputs, k), b = row_known(got.outputs, k);
    if (b && !a) return "row " + std::to_string(k) + " is known to compiled code only";
    if (a && !b && k < due) return "row " + std::to_string(k) + " is missing";
    if (!a || !b) continue;
    for (std::size_t o = 0; o < want.outputs.size(); ++o)
      if (!same_cell(want.outputs[o].cells[k], got.outputs[o].cells[k], tolerance))
        return want.outputs[o].name + " differs at cycle " + std::to_string(k) + ": " + text(want.outputs[o].cells[k]) +
               " against " + text(got.outputs[o].cells[k]);
  }
  return "";
}

// In a quarter of the programs, lists of statements are split into functions of a few statements each.
std::uint32_t part(std::uint64_t seed) { return seed % 4 == 1 ? 3 : TargetOptions().part; }

// Evaluated by need, a program has the rows of the reference engine, to the bit, whether it has a schedule or not.
std::string compare_on_demand(Session& session, const Elaborated& elaborated, const GeneratedProgram& g,
                              const DriveOptions& options, const Driven& want) {
  session.options.on_demand = OnDemand::always;
  session.options.target.optimization = 0;
  session.options.target.strict_math = true;
  const auto arranged = arrange(session, elaborated, session.diagnostics);
  const auto program = load_compiled(session, lower(session, *arranged), {});
  session.options.on_demand = OnDemand::never;
  if (!program) return "on demand, it does not compile";
  const std::string found =
      compare(g, static_cast<std::size_t>(g.cycles), want, drive(program->table(), g.inputs, options));
  return found.empty() ? "" : "on demand: " + found;
}

// Compares the equations before simplification with those afterwards. Values may differ by
// rounding, and rows may be known earlier.
std::string compare_unsimplified(Session& session, const Front& front, NodeId entry, const GeneratedProgram& g,
                                 const DriveOptions& options, const Driven& want) {
  const auto whole =
      elaborate(session, front, entry, {.productivity = false, .simplified = false}, session.diagnostics);
  if (!whole) return "unsimplified: " + render_human(session.diagnostics, session.sources, false);
  const Driven got = drive(load_reference(session, whole->core, {}, Failing::where_needed)->table(), g.inputs, options);
  const std::string found = compare(g, 0, want, got, rounding);
  return found.empty() ? "" : "unsimplified: " + found;
}

// With `guesses`, compiled code may stop because its schedule assumed something false.
Report check_engines(const GeneratedProgram& g, std::size_t due, std::uint64_t seed, bool guesses,
                     const std::string& node = "") {
  Session session(own_resources());
  session.options.target.cpu = "native", session.options.target.part = part(seed);
  session.options.node = node;
  const Front front = check_text(session, "generated.rml", g.source);
  auto errors = [&](Outcome o) { return Report{o, render_human(session.diagnostics, session.sources, false)}; };
  if (session.failed()) return errors(failed);  // reports an error of the generator, whose programs must compile
  const auto entry = find_entry(session, front);
  if (!entry) return errors(failed);
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  if (!elaborated || session.failed()) return errors(is_unproductive(session.diagnostics) ? rejected : failed);
  const DriveOptions options{.cycles = g.cycles, .seed = seed, .horizon = 0, .restarts = false};
  const auto reference = load_reference(session, elaborated->core, {});
  if (!reference) return errors(failed);
  const Driven want = drive(reference->table(), g.inputs, options);
  if (std::string found = compare_unsimplified(session, front, *entry, g, options, want); !found.empty())
    return {differs, std::move(found)};
  if (std::string found = compare_on_demand(session, *elaborated, g, options, want); !found.empty())
    return {differs, std::move(found)};
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return errors(refused);
  if (const std::string complaint = validate(arranged->schedule); !complaint.empty())
    return {failed, "validator: " + complaint};
  struct Way {
    int level;
    bool strict;
    bool whole_segment = false;  // true: rows and faults appear only at the end of a segment
  };
  for (const auto [level, strict, whole] : {Way{0, true}, Way{2, true}, Way{2, false}, Way{0, false, true}}) {
    if (whole && !want.stop.empty()) continue;
    session.options.target.optimization = level;
    session.options.target.strict_math = strict;
    session.options.whole_segment = whole;
    const steps::Program program = lower(session, *arranged);
    const auto compiled = load_compiled(session, program, {});
    if (!compiled) return errors(failed);
    const Driven got = drive(compiled->table(), g.inputs, options);
    if (guesses && breaks_assumption(got)) return {guessed, ""};
    const std::string difference = compare(g, whole ? 0 : due, want, got, strict ? 0 : rounding);
    if (!difference.empty())
      return {differs, "-O" + std::to_string(level) + (strict ? " --strict-math" : "") +
                           (whole ? " --chunk segment: " : ": ") + difference};
    if (level > 0 || whole) continue;
    DriveOptions restarting = options;
    restarting.restarts = true;
    const std::string lost = compare(g, due, want, drive(compiled->table(), g.inputs, restarting));
    if (!lost.empty()) return {differs, "saved and loaded after every cycle: " + lost};
  }
  return {};
}

// True for floats that are near each other. Values computed from comparisons of floats may differ
// in any way.
bool near_cell(const Cell& a, const Cell& b) {
  if (a.presence != b.presence) return false;
  if (a.presence != Presence::present || !is_float(a.value.dtype())) return true;
  const bool wide = a.value.dtype() == DType::f64;
  const auto at = [&](const Tensor& t, std::int64_t i) {
    return wide ? t.as<double>()[i] : static_cast<double>(t.as<float>()[i]);
  };
  double largest = 0;
  for (std::int64_t i = 0; i < a.value.elements(); ++i)
    if (std::isfinite(at(a.value, i))) largest = std::max(largest, std::fabs(at(a.value, i)));
  for (std::int64_t i = 0; i < a.value.elements(); ++i) {
    const double x = at(a.value, i), y = at(b.value, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= (wide ? 1e-9 : 1e-3) * std::max(1.0, largest))) return false;
  }
  return true;
}

// Compiles applications to inputs without --strict-math. Applications to results are not
// compared, because a comparison or a rounding in between could magnify the difference.
Report check_rounding(const GeneratedProgram& g, std::uint64_t seed) {
  Session session(own_resources());
  session.options.target.cpu = "native", session.options.target.part = part(seed);
  const Front front = check_text(session, "generated.rml", g.source);
  const auto entry = find_entry(session, front);
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  const DriveOptions options{.cycles = g.cycles, .seed = seed, .horizon = 0, .restarts = false};
  const Driven want = drive(load_reference(session, elaborated->core, {})->table(), g.inputs, options);
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  const steps::Program program = lower(session, *arranged);
  const Driven got = drive(load_compiled(session, program, {})->table(), g.inputs, options);
  if (want.stop != got.stop) return {differs, "rounding: stops `" + want.stop + "` against `" + got.stop + "`"};
  if (!want.stop.empty()) return {};
  for (std::size_t o = 0; o < want.outputs.size(); ++o) {
    if (want.outputs[o].name.ends_with("_2")) continue;
    for (std::size_t k = 0; k < static_cast<std::size_t>(g.cycles); ++k)
      if (!near_cell(want.outputs[o].cells[k], got.outputs[o].cells[k]))
        return {differs, "rounding: " + want.outputs[o].name + " is " + text(want.outputs[o].cells[k]) + " against " +
                             text(got.outputs[o].cells[k])};
  }
  return {};
}

Report check_wide(const GeneratedProgram& g, std::uint64_t seed) {
  Session session(own_resources());
  session.options.target.cpu = "native", session.options.target.part = part(seed);
  const Front front = check_text(session, "generated.rml", g.source);
  const auto entry = find_entry(session, front);
  const auto elaborated = entry ? elaborate(session, front, *entry, {}, session.diagnostics) : std::nullopt;
  const auto errors = [&](Outcome o) { return Report{o, render_human(session.diagnostics, session.sources, false)}; };
  if (!elaborated || session.failed()) return errors(is_unproductive(session.diagnostics) ? rejected : failed);
  const DriveOptions options{.cycles = g.cycles, .seed = seed, .horizon = 0, .restarts = false};
  const Driven want = drive(load_reference(session, elaborated->core, {})->table(), g.inputs, options);
  if (std::string found = compare_unsimplified(session, front, *entry, g, options, want); !found.empty())
    return {differs, std::move(found)};
  const auto arranged = arrange(session, *elaborated, session.diagnostics);
  if (!arranged) return errors(refused);
  const bool jumps =
      // Skipped, because a cast to an integer would magnify a difference in rounding.
      g.source.find("cast(i32") != std::string::npos;
  enum class Math : std::uint8_t { strict, usual, fast };
  for (const auto& [math, whole] : {std::pair{Math::strict, false},
                                    {Math::strict, true},
                                    {Math::usual, false},
                                    {Math::usual, true},
                                    {Math::fast, false},
                                    {Math::fast, true}}) {
    if ((math != Math::strict && jumps) || (whole && !want.stop.empty())) continue;
    session.options.target.strict_math = math == Math::strict, session.options.target.fast_math = math == Math::fast;
    session.options.whole_segment = whole;
    const steps::Program program = lower(session, *arranged);
    const Driven got = drive(load_compiled(session, program, {})->table(), g.inputs, options);
    const std::string way = std::string(math == Math::strict ? "--strict-math"
                                        : math == Math::fast ? "--fast-math"
                                                             : "") +
                            (whole ? " --chunk segment: " : ": ");
    if (want.stop != got.stop) return {differs, way + "stops `" + want.stop + "` against `" + got.stop + "`"};
    for (std::size_t o = 0; want.stop.empty() && o < want.outputs.size(); ++o)
      for (std::size_t k = 0; k < want.outputs[o].cells.size(); ++k) {
        const Cell &a = want.outputs[o].cells[k], &b = got.outputs[o].cells[k];
        if (math == Math::strict ? !same_cell(a, b, 0) : !near_cell(a, b))
          return {differs, way + want.outputs[o].name + " differs at cycle " + std::to_string(k) + ": " +
                               text(a).substr(0, 200) + " against " + text(b).substr(0, 200)};
      }
  }
  return {};
}

Report check_operations(const GeneratedProgram& g, std::uint64_t seed) {
  const Report strict = check_engines(g, static_cast<std::size_t>(g.cycles), seed, false);
  return strict.outcome == agrees ? check_rounding(g, seed) : strict;
}

// True if the second derivative was refused because of an operator that has none.
bool has_no_second(const std::string& refusal) {
  constexpr std::string_view operators_without[] = {"`grid_sample`", "`ctc_loss`", "by \"mul\""};
  return std::ranges::any_of(operators_without,
                             [&](std::string_view name) { return refusal.find(name) != std::string::npos; });
}

// Compares both derivatives of f with differences, then compiles them; only the first one if
// there is no second.
Report check_derivatives(const GeneratedProgram& g, std::uint64_t seed) {
  const Report first = check_differences(g, seed);
  if (first.outcome != agrees && first.outcome != idle && first.outcome != stopped) return first;
  Report second = check_differences(g, seed, "g");
  if (second.outcome == without && !has_no_second(second.text)) second.outcome = failed;
  if (second.outcome != agrees && second.outcome != idle && second.outcome != stopped && second.outcome != without)
    return second;
  const Report engines =
      check_engines(g, static_cast<std::size_t>(g.cycles), seed, false, second.outcome == without ? "first" : "second");
  if (engines.outcome != agrees) return engines;
  return first.outcome == agrees ? second : first;
}

// Prints the operators that occur in none of the programs.
void tell_undrawn(std::uint64_t from, std::uint64_t count) {
  std::vector<std::string> drawn;
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(count, 5000); ++k) generate_operations(from + k, &drawn);
  std::string missing;
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& row = operators()[static_cast<OperatorId>(id)];
    if (is_drawn(row) && std::ranges::find(drawn, row.name) == drawn.end()) missing += " " + std::string(row.name);
  }
  if (!missing.empty()) std::printf("not drawn:%s\n", missing.c_str());
}

struct Mode {
  bool gradients = false, reference = false, operations = false, derivatives = false, threads = false, wide = false;
  bool parts = false, network = false, instances = false;
};

GeneratedProgram generate(std::uint64_t seed, Mode mode) {
  if (mode.instances || (mode.network && (seed % 8 == 2 || seed % 8 == 7))) return generate_instances(seed);
  mode.parts = mode.parts || mode.network;
  if (mode.parts && seed % 8 == 1) return generate_wide_program(seed);
  if (mode.parts && seed % 8 == 3) return generate_operations(seed);
  if (mode.parts && seed % 8 == 5) return generate_gradient_program(seed);
  if (mode.wide || (mode.threads && seed % 4 != 0)) return generate_wide_program(seed);
  if (mode.operations || (mode.threads && seed % 12 == 0)) return generate_operations(seed);
  if (mode.derivatives) return generate_derivatives(seed);
  if (mode.gradients || (mode.threads && seed % 12 == 4)) return generate_gradient_program(seed);
  return generate_program(seed);
}

Report check(std::uint64_t seed, Mode mode) {
  const GeneratedProgram g = generate(seed, mode);
  if (mode.wide) return check_wide(g, seed);
  if (mode.threads) return check_threads(g, seed);
  if (mode.parts) return check_parts(g, seed);
  if (mode.network || mode.instances) return check_network(g, seed);
  if (mode.operations) return check_operations(g, seed);
  if (mode.derivatives) return check_derivatives(g, seed);
  if (!mode.gradients) return check_engines(g, settled(g), seed, false);
  const Report differences = check_differences(g, seed);
  if (differences.outcome == without || differences.outcome == stopped) return {failed, differences.text};
  if (differences.outcome != agrees && differences.outcome != rejected) return differences;
  if (mode.reference) return differences;
  const Report engines = check_engines(with_every_combination(g), static_cast<std::size_t>(g.cycles), seed, true);
  return engines.outcome == agrees ? differences : engines;
}

Report check_safely(std::uint64_t seed, Mode mode) {
  try {
    return check(seed, mode);
  } catch (const std::exception& e) {
    return {failed, e.what()};
  }
}

// Runs the seeds first, first + step, … and writes a letter for each. Errors are printed to
// stderr.
void work(std::uint64_t first, std::uint64_t step, std::uint64_t count, Mode mode, int to) {
  for (std::uint64_t i = 0; i < count; ++i) {
    alarm(180);
    const std::uint64_t seed = first + i * step;
    const Report r = check_safely(seed, mode);
    if (r.outcome == differs || r.outcome == failed)
      std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), r.text.c_str());
    if (write(to, &r.outcome, 1) != 1) _exit(2);
  }
  _exit(0);
}

using Totals = std::map<char, std::uint64_t>;

// Prints the operators of which all programs, or none, had one of these outcomes.
void tell_operators(const std::map<std::string, Totals>& drawn, const char* what, bool all,
                    const std::string& letters) {
  std::string names;
  for (const auto& [name, totals] : drawn) {
    const auto is = [&](const auto& t) { return letters.find(t.first) != std::string::npos; };
    if (all ? std::ranges::all_of(totals, is) : std::ranges::any_of(totals, is)) names += " " + name;
  }
  if (!names.empty()) std::printf("%s:%s\n", what, names.c_str());
}

void tell_derivatives(const std::map<std::string, Totals>& drawn) {
  std::string missing;
  for (std::size_t id = 0; id < operators().size(); ++id) {
    const OperatorInfo& row = operators()[static_cast<OperatorId>(id)];
    if (is_drawn(row, Drawing::differentiable) && !drawn.contains(std::string(row.name)))
      missing += " " + std::string(row.name);
  }
  if (!missing.empty()) std::printf("not drawn:%s\n", missing.c_str());
  tell_operators(drawn, "never compared", true, {idle, stopped});
  tell_operators(drawn, "now and then without a second derivative", false, {without});
}

Totals run(std::uint64_t from, std::uint64_t count, std::uint64_t jobs, Mode mode) {
  Totals totals;
  std::map<std::string, Totals> drawn;
  struct Task {
    std::uint64_t first, count;
  };
  std::vector<Task> tasks;
  for (std::uint64_t j = 0; j < jobs; ++j) tasks.push_back({from + j, (count + jobs - 1 - j) / jobs});
  std::vector<std::pair<pid_t, int>> running(jobs);
  auto start = [&](std::uint64_t j) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      work(tasks[j].first, jobs, tasks[j].count, mode, ends[1]);
    }
    close(ends[1]);
    running[j] = {pid, ends[0]};
  };
  for (std::uint64_t j = 0; j < jobs; ++j) start(j);
  for (std::uint64_t j = 0; j < jobs; ++j) {
    while (tasks[j].count > 0) {
      char letter = 0;
      if (read(running[j].second, &letter, 1) == 1) {
        ++totals[letter];
        std::string name;
        if (mode.derivatives) generate_derivatives(tasks[j].first, &name), ++drawn[name][letter];
        tasks[j].first += jobs;
        --tasks[j].count;
        continue;
      }
      // The worker died, or its alarm stopped it, at the program that it would have reported
      // next.
      int status = 0;
      waitpid(running[j].first, &status, 0);
      close(running[j].second);
      std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(tasks[j].first),
                   WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "no end after 180 s" : "crash");
      ++totals['C'];
      tasks[j].first += jobs;
      if (--tasks[j].count > 0)
        start(j);
      else
        running[j].first = 0;
    }
    if (running[j].first != 0) waitpid(running[j].first, nullptr, 0);
  }
  if (mode.derivatives) tell_derivatives(drawn);
  return totals;
}

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  using namespace rml::fuzz;
  std::uint64_t from = 1, count = 200, jobs = 2, print = 0;
  Mode mode;
  bool printing = false;
  for (int i = 1; i < argc; ++i) {
    const std::pair<const char*, bool*> flags[] = {
        {"--gradients", &mode.gradients},   {"--reference", &mode.reference},
        {"--operations", &mode.operations}, {"--derivatives", &mode.derivatives},
        {"--threads", &mode.threads},       {"--wide", &mode.wide},
        {"--parts", &mode.parts},           {"--network", &mode.network},
        {"--instances", &mode.instances}};
    const auto* flag = std::ranges::find_if(flags, [&](auto& f) { return std::strcmp(argv[i], f.first) == 0; });
    if (flag != std::end(flags)) {
      *flag->second = true;
      continue;
    }
    const std::pair<const char*, std::uint64_t*> options[] = {
        {"--from", &from}, {"--count", &count}, {"--jobs", &jobs}, {"--print", &print}};
    const auto* option = std::ranges::find_if(options, [&](auto& o) { return std::strcmp(argv[i], o.first) == 0; });
    if (option == std::end(options) || i + 1 == argc) {
      std::fprintf(stderr, "unknown option %s\n", argv[i]);
      return 2;
    }
    printing |= option->second == &print;
    *option->second = std::strtoull(argv[++i], nullptr, 10);
  }
  if (printing) {
    const GeneratedProgram g = generate(print, mode);
    std::printf("%s(*\n%s*)\n", g.source.c_str(), rml::print_chronogram(g.inputs).c_str());
    return 0;
  }
  if (mode.operations) tell_undrawn(from, count);
  auto totals = run(from, count, jobs == 0 ? 1 : jobs, mode);
  if (totals[idle] + totals[stopped] > 0)
    std::printf("%llu without any gradient to compare\n",
                static_cast<unsigned long long>(totals[idle] + totals[stopped]));
  if (totals[without] > 0)
    std::printf("%llu without a second derivative\n", static_cast<unsigned long long>(totals[without]));
  if (totals[guessed] > 0)
    std::printf("%llu stopped where their schedule assumes what is not so\n",
                static_cast<unsigned long long>(totals[guessed]));
  const std::uint64_t bad = totals[differs] + totals[failed] + totals['C'];
  std::printf("seeds %llu to %llu: %llu agree, %llu rejected, %llu without a static schedule\n",
              static_cast<unsigned long long>(from), static_cast<unsigned long long>(from + count - 1),
              static_cast<unsigned long long>(totals[agrees]), static_cast<unsigned long long>(totals[rejected]),
              static_cast<unsigned long long>(totals[refused]));
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(count - bad),
              static_cast<unsigned long long>(bad));
  return bad == 0 ? 0 : 1;
}
