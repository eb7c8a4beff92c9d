// Checks a test by the same code that `rmlc check` and `rmlc run` use. The first failure ends it.
#include "driver/checks/test_runner.h"
#include "compiler/read_file.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "compiler/engines.h"
#include "compiler/internal_error.h"
#include "driver/base/crash_report.h"
#include "driver/base/exit_status.h"
#include "driver/base/installation.h"
#include "driver/base/output_file.h"
#include "driver/checks/check_instances.h"
#include "driver/checks/compare_chronograms.h"
#include "driver/checks/test_directives.h"
#include "driver/programs/drive_program.h"
#include "frontend/render.h"
#include "runtime/base/parallel.h"
#include "runtime/base/subprocess.h"

namespace rml {
namespace {

namespace fs = std::filesystem;

struct Failed {
  std::string text;
};

[[noreturn]] void fail(const std::string& text) { throw Failed{text}; }

std::string name_of(Code code) { return std::string(code_name(code)); }

// All text of a message, in which tests search for expected words.
std::string words_of(const Diagnostic& d) {
  std::string text = d.message + "\n" + d.primary.text;
  for (const Label& l : d.secondary) text += "\n" + l.text;
  for (const std::string& n : d.notes) text += "\n" + n;
  return text;
}

// ---- messages ----------------------------------------------------------------------------

// Each expected message matches one message. An error that remains was not expected.
void match_messages(const Session& session, const LanguageTest& test) {
  std::vector<const Diagnostic*> left;
  for (const Diagnostic& d : session.diagnostics.all()) left.push_back(&d);
  const auto rendered = [&] { return "\n" + render_human(session.diagnostics, session.sources, false); };
  const auto take = [&](const ExpectedMessage& expected) {
    const auto found = std::ranges::find_if(left, [&](const Diagnostic* d) {
      return d->code == expected.code && words_of(*d).find(expected.text) != std::string::npos;
    });
    if (found == left.end())
      fail("no " + name_of(expected.code) + " \"" + expected.text + "\" was reported, but this was:" + rendered());
    left.erase(found);
  };
  for (const ExpectedMessage& e : test.rejects) take(e);
  for (const ExpectedMessage& e : test.warnings) take(e);
  for (const Diagnostic* d : left) {
    const bool error = severity(d->code) == Severity::error;
    if (error || !test.warnings.empty()) fail("unexpected " + name_of(d->code) + ":" + rendered());
  }
}

// A single caret marks where the range begins, several carets mark the range.
bool points_at(const Marker& m, const Diagnostic& d, const SourceMap& sources, std::uint32_t file) {
  const Span s = d.primary.span;
  if (s.file != file || (m.code && *m.code != d.code)) return false;
  const LineColumn begin = sources.line_column(s.file, s.begin);
  const LineColumn end = sources.line_column(s.file, std::max(s.end, s.begin + 1));
  if (begin.line != m.line || begin.column != m.begin) return false;
  if (m.end == m.begin + 1) return true;
  return end.line != begin.line || end.column == m.end;
}

void match_markers(const Session& session, const LanguageTest& test, std::uint32_t file) {
  for (const Marker& m : test.markers) {
    const auto& all = session.diagnostics.all();
    if (std::ranges::any_of(all, [&](const Diagnostic& d) { return points_at(m, d, session.sources, file); })) continue;
    fail("no message points at line " + std::to_string(m.line) + ", columns " + std::to_string(m.begin) + " to " +
         std::to_string(m.end - 1) + ":\n" + render_human(session.diagnostics, session.sources, false));
  }
}

// The file after applying every certain fix-it of the message.
std::string mended(const Diagnostic& d, const std::string& text) {
  std::vector<FixIt> fixes;
  for (const FixIt& f : d.fixes) {
    if (f.certain) fixes.push_back(f);
  }
  std::ranges::sort(fixes, [](const FixIt& a, const FixIt& b) { return a.span.begin > b.span.begin; });
  std::string result = text;
  for (const FixIt& f : fixes) result.replace(f.span.begin, f.span.end - f.span.begin, f.replacement);
  return result;
}

// A certain fix-it must remove its message without a new one.
void apply_fixes(const Session& session, const LanguageTest& test) {
  const auto warnings = [](const Diagnostics& d) { return d.all().size() - d.error_count(); };
  for (const Diagnostic& d : session.diagnostics.all()) {
    const bool is_error = severity(d.code) == Severity::error;
    if (std::ranges::none_of(d.fixes, [](const FixIt& f) { return f.certain; })) continue;
    const std::string text = mended(d, test.text);
    Session fixed(session.resources);
    fixed.options = session.options;
    std::string said;
    const Front front = check_text(fixed, test.file.string(), text);
    check_instances(fixed, front, said);
    const std::size_t errors = session.diagnostics.error_count(), errors_left = fixed.diagnostics.error_count();
    if (is_error ? errors_left < errors
                 : errors_left == errors && warnings(fixed.diagnostics) < warnings(session.diagnostics))
      continue;
    fail("the fix-it of " + name_of(d.code) + " does not fix it:\n" + text +
         render_human(fixed.diagnostics, fixed.sources, false));
  }
}

Code code_of(const std::string& name) {
  for (const Code code : all_codes()) {
    if (code_name(code) == name) return code;
  }
  fail("rmlc reported an unknown code '" + name + "'");
}

// Collects the codes in the report: objects with a "code", anywhere in it.
void collect_codes(const nlohmann::json& json, std::vector<std::pair<Code, std::string>>& found) {
  if (json.is_object() && json.contains("code") && json["code"].is_string()) {
    found.emplace_back(code_of(json["code"]), json.dump());
    return;
  }
  if (!json.is_structured()) return;
  for (const auto& child : json) collect_codes(child, found);
}

// `command:` tests run rmlc itself and read its JSON report. As in other tests, each expectation
// matches one message, and the remaining errors were not expected.
void run_command_test(const LanguageTest& test) {
  std::vector<std::string> arguments{own_binary().string()};
  for (const std::string& word : test.command) arguments.push_back(word == "%" ? test.file.filename().string() : word);
  arguments.insert(arguments.end(), {"--error-format", "json"});
  const auto done = run_to_end(arguments, test.file.parent_path().string());
  if (!done) fail("rmlc cannot be started");
  if (done->status != (test.rejects.empty() ? exit_success : exit_fault))
    fail("exit status " + std::to_string(done->status) + ":\n" + done->errors);
  const auto report = nlohmann::json::parse(done->errors, nullptr, false);
  if (report.is_discarded()) fail("not JSON:\n" + done->errors);
  std::vector<std::pair<Code, std::string>> found;
  collect_codes(report, found);
  const auto take = [&](const ExpectedMessage& e) {
    const auto here = std::ranges::find_if(
        found, [&](const auto& f) { return f.first == e.code && f.second.find(e.text) != std::string::npos; });
    if (here == found.end()) fail("no " + name_of(e.code) + " \"" + e.text + "\":\n" + done->errors);
    found.erase(here);
  };
  for (const ExpectedMessage& e : test.rejects) take(e);
  for (const ExpectedMessage& e : test.warnings) take(e);
  for (const auto& [code, text] : found)
    if (severity(code) == Severity::error || !test.warnings.empty())
      fail("unexpected " + name_of(code) + ":\n" + done->errors);
}

// A test's file with some definitions, read and checked once for all its uses.
struct Source {
  Source(const LanguageTest& test, std::vector<std::string> definitions) : session(own_resources()) {
    session.options.definitions = std::move(definitions);
    front.emplace(check(session, test.file));
  }

  Session session;
  std::optional<Front> front;
};

void check_test(const LanguageTest& test, Source& source) {
  std::string said;
  if (test.runs.empty()) check_instances(source.session, *source.front, said);
  match_messages(source.session, test);
  match_markers(source.session, test, source.front->program->modules[0].file);
  apply_fixes(source.session, test);
}

// ---- runs --------------------------------------------------------------------------------

// The C sources of external nodes as one shared library, removed at the end.
class CompiledSources {
 public:
  explicit CompiledSources(const std::vector<fs::path>& sources) {
    if (sources.empty()) return;
    std::string folder = fs::temp_directory_path() / "rmlc-test-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) fail("no folder for the linked sources: " + folder);
    library_ = fs::path(folder) / "sources.so";
    std::vector<std::string> command{"cc", "-shared", "-fPIC", "-O1", "-o", library_.string()};
    for (const fs::path& s : sources) command.push_back(s.string());
    const auto done = run_to_end(command);
    if (!done || done->status != 0) fail("cc cannot compile the linked sources:\n" + (done ? done->errors : ""));
  }
  CompiledSources(const CompiledSources&) = delete;
  CompiledSources& operator=(const CompiledSources&) = delete;
  ~CompiledSources() {
    std::error_code ignored;
    if (!library_.empty()) fs::remove_all(library_.parent_path(), ignored);
  }
  std::vector<std::string> libraries() const {
    return library_.empty() ? std::vector<std::string>{} : std::vector<std::string>{library_.string()};
  }

 private:
  fs::path library_;
};

struct EngineChoice {
  Engine engine;
  int optimization;
  const char* name;
  std::uint32_t threads = 1;  // more than 1: every loop that can be shared uses this number of threads
  Grain grain = Grain::none;
  OnDemand on_demand = OnDemand::where_needed;
  bool simplified = true;  // false: the core is not simplified, which must give the same result
};
constexpr EngineChoice engines[] = {
    {Engine::reference, 0, "reference engine"},
    {Engine::reference, 0, "reference engine, unsimplified", 1, Grain::none, OnDemand::where_needed, false},
    {Engine::compiled, 0, "compiled -O0"},
    {Engine::compiled, 2, "compiled -O2"}};
constexpr EngineChoice engines_on_demand[] = {engines[0],
                                              {Engine::compiled, 2, "on demand", 1, Grain::none, OnDemand::always}};

struct Loaded {
  std::unique_ptr<LoadedProgram> program;
  bool on_demand = false;
  const rml_program& table() const { return program->table(); }
};

// The compiled subject of a run test, for all engines: they share the core, which stays unchanged, and no later form.
// Fails with the diagnostics if it does not compile.
class Subject {
 public:
  Subject(Source& source, const TestRun& run, const std::vector<std::string>& libraries)
      : session_(source.session), front_(*source.front), libraries_(libraries) {
    session_.options.node = run.node;
    session_.options.target.cpu = "native";
    entry_ = session_.failed() ? std::nullopt : find_entry(session_, *source.front);
    if (entry_) elaborated_ = elaborate(session_, *source.front, *entry_, {}, session_.diagnostics);
    if (!elaborated_) fail_to_compile();
  }

  Loaded load(const EngineChoice& choice) const {
    session_.options.grain = choice.grain;
    session_.options.target.optimization = choice.optimization;
    session_.options.target.threads = choice.threads;
    session_.options.target.work_of_thread = choice.threads > 1 ? 0 : TargetOptions().work_of_thread;
    session_.options.on_demand = choice.on_demand;
    Loaded loaded;
    if (!choice.simplified) {
      const auto whole =
          elaborate(session_, front_, *entry_, {.productivity = false, .simplified = false}, session_.diagnostics);
      if (whole) loaded.program = load_reference(session_, whole->core, libraries_, Failing::where_needed);
    } else if (choice.engine == Engine::reference) {
      loaded.program = load_reference(session_, elaborated_->core, libraries_);
    } else if (const auto arranged = arrange(session_, *elaborated_, session_.diagnostics)) {
      loaded.program = load_compiled(session_, lower(session_, *arranged), libraries_);
      loaded.on_demand = arranged->on_demand.has_value();
    }
    if (!loaded.program) fail_to_compile();
    return loaded;
  }

  // True if stages give other tasks than whole units. A small program is a single stage.
  bool has_stages() const { return units(Grain::stage) != units(Grain::sweep); }

 private:
  std::size_t units(Grain grain) const {
    session_.options.grain = grain;
    const auto arranged = arrange(session_, *elaborated_, session_.diagnostics);
    return arranged ? arranged->schedule.units.size() : 0;
  }

  [[noreturn]] void fail_to_compile() const {
    fail("does not compile:\n" + render_human(session_.diagnostics, session_.sources, false));
  }

  Session& session_;
  const Front& front_;
  const std::vector<std::string>& libraries_;
  std::optional<NodeId> entry_;
  std::optional<Elaborated> elaborated_;
};

Chronogram read_rows(const fs::path& file, const std::vector<ChronogramPort>& ports) {
  std::string error;
  const auto text = read_file(file, error);
  auto rows = text ? read_chronogram(*text, ports, error) : std::nullopt;
  if (!rows) fail(file.string() + ": " + error);
  return std::move(*rows);
}

std::int64_t count_cycles(const TestRun& run, const Chronogram& inputs, const Chronogram* expected) {
  if (run.cycles) return *run.cycles;
  for (const Chronogram* rows : {&inputs, expected}) {
    if (rows != nullptr && !rows->empty()) return static_cast<std::int64_t>(rows->front().cells.size());
  }
  fail("node '" + run.node + "' has no inputs: say how many cycles with --cycles N");
}

void match_stop(const TestRun& run, const Driven& driven) {
  const std::string stopped = "the run stopped in cycle " + std::to_string(driven.stop_cycle) + ": " + driven.stop;
  if (!run.stop_cycle) {
    if (!driven.stop.empty()) fail(stopped);
    return;
  }
  if (driven.stop.empty()) fail("the run did not stop");
  if (driven.stop_cycle != *run.stop_cycle || driven.stop.find(run.stop_text) == std::string::npos) fail(stopped);
}

// A run that is saved and loaded after every cycle must be the same to the last bit.
void match_restarted(const Driven& driven, const Driven& restarted) {
  if (restarted.stop != driven.stop || restarted.stop_cycle != driven.stop_cycle)
    fail("saved and loaded after every cycle, the run stops differently: " + restarted.stop);
  if (print_chronogram(restarted.outputs) == print_chronogram(driven.outputs)) return;
  fail("saved and loaded after every cycle, the rows differ:\n" + difference(driven.outputs, restarted.outputs, 0));
}

void match_threads(const rml_program& program, const Chronogram& inputs, const DriveOptions& options,
                   const Driven& driven, std::uint32_t most) {
  for (const std::uint32_t threads : {1u, 2u, most}) {
    rml_limit_threads(threads);
    const Driven shared = drive(program, inputs, options);
    const std::string where = "in " + std::to_string(threads) + " threads ";
    if (shared.stop != driven.stop || shared.stop_cycle != driven.stop_cycle)
      fail(where + "the run stops differently: " + shared.stop);
    if (print_chronogram(shared.outputs) != print_chronogram(driven.outputs))
      fail(where + "the rows differ:\n" + difference(driven.outputs, shared.outputs, 0));
  }
}

// As a network the program must give the same bits, for every number of workers and every capacity between tasks.
void match_network(const rml_program& program, const Chronogram& inputs, DriveOptions options, const Driven& driven,
                   const std::string& grain) {
  constexpr std::pair<unsigned, unsigned> settings[] = {{1, 1}, {2, 2}, {8, 64}};
  for (const auto& [workers, capacity] : settings) {
    options.workers = workers, options.capacity = capacity;
    const Driven shared = drive(program, inputs, options);
    const std::string where = "as a network of grain " + grain + ", " + std::to_string(workers) +
                              " workers, capacity " + std::to_string(capacity) + ", ";
    if (shared.stop != driven.stop || shared.stop_cycle != driven.stop_cycle)
      fail(where + "the run stops differently: " + shared.stop);
    if (print_chronogram(shared.outputs) != print_chronogram(driven.outputs))
      fail(where + "the rows differ:\n" + difference(driven.outputs, shared.outputs, 0));
  }
}

void match_networks(const Subject& subject, const Chronogram& inputs, DriveOptions options, const Driven& driven) {
  options.restarts = false;
  const auto load_grain = [&](Grain grain) { return subject.load({Engine::compiled, 2, "compiled -O2", 1, grain}); };
  match_network(load_grain(Grain::sweep).table(), inputs, options, driven, "sweep");
  const auto fine = load_grain(Grain::op);
  match_network(fine.table(), inputs, options, driven, "op");
  options.workers = 2, options.capacity = 2, options.restarts = true;
  match_restarted(driven, drive(fine.table(), inputs, options));
  options.restarts = false;
  if (subject.has_stages()) match_network(load_grain(Grain::stage).table(), inputs, options, driven, "stage");
}

// Values that were known before their inputs must equal those of the row; another order of sums may change last digits.
void match_leads(const Driven& driven, double tolerance) {
  constexpr double last_digits = 1e-5;
  for (std::size_t o = 0; o < driven.leads.size(); ++o)
    for (std::size_t n = 0; n < driven.leads[o].cells.size(); ++n) {
      const Cell &early = driven.leads[o].cells[n], &row = driven.outputs[o].cells[n];
      if (early.presence == Presence::undetermined || row.presence == Presence::undetermined) continue;
      if (!same_cell(row, early, std::max(tolerance, last_digits)))
        fail("in cycle " + std::to_string(n) + " " + driven.leads[o].name +
             " has another value before its inputs are present");
    }
}

// Comment lines of the old expectation survive a blessing.
std::string leading_comments(const fs::path& file) {
  std::string error, comments;
  const std::string text = read_file(file, error).value_or("");
  for (std::size_t at = 0; text.compare(at, 2, "--") == 0;) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    comments += text.substr(at, end - at);
    at = end;
  }
  return comments;
}

void bless(const TestRun& run, const Chronogram& outputs, std::string& said) {
  Diagnostics problems;
  if (!write_file(run.output, leading_comments(run.output) + print_chronogram(outputs), problems))
    fail(problems.all().front().message);
  said += "wrote " + run.output.string() + "\n";
}

// Runs the test on one engine. `expected`: the file's rows, or else those of the first engine.
void run_on(const EngineChoice& choice, const LanguageTest& test, const TestRun& run, const Subject& subject,
            const TestModes& modes, std::optional<Chronogram>& expected, std::string& said) {
  const Loaded program = subject.load(choice);
  const rml_program& table = program.table();
  const auto outputs = ports(table.outputs, table.n_outputs);
  if (!expected && !modes.bless) expected = read_rows(run.output, outputs);
  const Chronogram inputs =
      table.n_inputs == 0 ? Chronogram{} : read_rows(run.input, ports(table.inputs, table.n_inputs));
  const std::int64_t cycles = count_cycles(run, inputs, expected ? &*expected : nullptr);
  const CurrentPhase phase("run");
  DriveOptions options{cycles, run.seed, run.horizon, false};
  const Driven driven = drive(table, inputs, options);
  match_stop(run, driven);
  match_leads(driven, test.tolerance);
  if (table.savable != 0 && !modes.brief) {
    options.restarts = true;
    match_restarted(driven, drive(table, inputs, options));
  }
  if (modes.threads > 1 && choice.optimization == 2) {
    const EngineChoice in_threads{Engine::compiled, 2, choice.name, modes.threads};
    options.restarts = false;
    match_threads(subject.load(in_threads).table(), inputs, options, driven, modes.threads);
  }
  if (choice.optimization == 2 && !modes.brief && !program.on_demand) match_networks(subject, inputs, options, driven);
  if (!expected) {
    expected = driven.outputs;
    bless(run, driven.outputs, said);
  }
  const std::string different = difference(*expected, driven.outputs, test.tolerance);
  if (!different.empty()) fail(different);
}

void run_test(const LanguageTest& test, const TestRun& run, Source& source, const std::vector<std::string>& libraries,
              const TestModes& modes, std::string& said) {
  const char* by = "any engine";
  try {
    const Subject subject(source, run, libraries);
    std::optional<Chronogram> expected;
    for (const EngineChoice& choice :
         modes.on_demand ? std::span<const EngineChoice>(engines_on_demand) : std::span<const EngineChoice>(engines)) {
      if (test.reference_only && choice.engine != Engine::reference) continue;
      if (test.simplified_only && !choice.simplified) continue;
      if (modes.brief && choice.engine == Engine::compiled && choice.optimization == 0) continue;
      by = choice.name;
      run_on(choice, test, run, subject, modes, expected, said);
    }
  } catch (const Failed& failed) {
    fail("run " + run.node + ", " + by + ":\n" + failed.text);
  }
}

}  // namespace

TestResult run_language_test(const fs::path& file, const TestModes& modes) {
  TestResult result;
  try {
    std::string error;
    const auto test = read_language_test(file, error);
    if (!test) fail(error);
    if (!test->command.empty()) {
      run_command_test(*test);
    } else {
      Source source(*test, {});
      check_test(*test, source);
      const CompiledSources sources(test->sources_to_link);
      const std::vector<std::string> libraries = sources.libraries();
      for (const TestRun& run : test->runs) {
        std::optional<Source> defined;
        if (!run.definitions.empty()) defined.emplace(*test, run.definitions);
        run_test(*test, run, defined ? *defined : source, libraries, modes, result.text);
      }
    }
    result.passed = true;
  } catch (const Failed& failed) {
    result.text = failed.text;
  } catch (const std::exception& e) {
    result.text = internal_error_text(e.what());
  }
  return result;
}

}  // namespace rml
