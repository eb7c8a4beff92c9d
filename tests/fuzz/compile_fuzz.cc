// Compiles sources that no user would write, as `rmlc check` and `rmlc build` do, up to the
// object file. Nothing is linked, because the inputs of the linker differ only in names and
// bytes.
//
//   compile_fuzz [--from CASE] [--count N] [--jobs N] FOLDER…      files of these folders with a few tokens changed
//   compile_fuzz [--from CASE] [--count N] [--jobs N] --booleans   Boolean equations that need each other
//   compile_fuzz --print CASE …                                    the source, and the folder of its imports
//
// A source must either be built, or be refused by diagnostics that have a place, are not repeated
// and are fit for a terminal. Every other outcome is an error: a signal, an exception (for
// example a broken invariant), or a build that refuses a source that the check accepts. A network
// may be refused if the program runs only on demand; then it is built without a network. A case
// may take ten seconds of processor time and four gigabytes, unless the unchanged source takes
// more.
//
// Worker processes check one case after the other and record their position in shared memory. If
// a worker dies, the next one continues after the case at which it died.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/internal_error.h"
#include "driver/base/crash_report.h"
#include "driver/base/installation.h"
#include "driver/checks/check_instances.h"
#include "frontend/deep_stack.h"
#include "frontend/render.h"
#include "fuzz/generate_booleans.h"
#include "fuzz/mutate_tokens.h"
#include "lowering/schedule/passes.h"

namespace rml::fuzz {

namespace {

constexpr int out_of_memory = 42;  // exit status of a worker that exceeds its memory limit
constexpr std::uint64_t cases_of_worker = 500;

enum Outcome : std::uint8_t { refused, built, wrong, outcomes };

struct Shared {
  std::uint64_t at;  // number of the current case
  std::uint64_t seen[outcomes];
  bool unchanged;  // true: the source of the case is compiled without changes
};

struct Verdict {
  Outcome outcome = refused;
  std::string what;
};

bool fit_for_terminals(const std::string& text) {
  return std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
  });
}

// Returns the reason why these diagnostics are not fit for a user, or an empty text.
std::string complaint(const Diagnostics& diagnostics, const SourceMap& sources) {
  std::set<std::tuple<Code, std::uint32_t, std::uint32_t, std::uint32_t, std::string>> seen;
  for (const Diagnostic& d : diagnostics.all()) {
    const Span s = d.primary.span;
    const bool of_entry = d.code == Code::E0901;
    if (s.file == 0 && !of_entry) return "no place: ";
    if (!seen.emplace(d.code, s.file, s.begin, s.end, d.message).second) return "said twice: ";
    if (d.message.empty()) return "no words: ";
  }
  if (!fit_for_terminals(render_human(diagnostics, sources, false))) return "control bytes: ";
  render_json(diagnostics, sources);
  return {};
}

// Chooses the options of a build by the number of the case.
void choose_options(Session& session, std::uint64_t number) {
  session.options.target.optimization = number % 10 == 0 ? 2 : 0;
  session.options.whole_segment = number % 8 == 6;
  session.options.grain = number % 8 == 3 ? Grain::stage : number % 8 == 5 ? Grain::op : Grain::none;
}

// True if the only error is that a network needs a schedule.
bool on_demand_alone(const Diagnostics& found) {
  return std::ranges::all_of(found.all(), [](const Diagnostic& d) {
    return severity(d.code) != Severity::error || (!d.notes.empty() && d.notes.back() == runs_on_demand);
  });
}

// Compiles the entry, or any node, to an object file. Returns the error, or an empty text.
std::string build_object(Session& session, const Front& front, std::uint64_t number) {
  choose_options(session, number);
  const Program& program = *front.program;
  auto entry = find_entry(session, front);
  if (!entry) {
    std::vector<std::string> nodes;
    for (const NodeId n : program.modules[0].nodes)
      if (!program[n].external()) nodes.push_back(program.text(program[n].name));
    session.diagnostics = {};
    if (nodes.empty()) return {};  // returns nothing, because the file contains only constants
    session.options.node = nodes[number % nodes.size()];
    entry = find_entry(session, front);
    if (!entry) return complaint(session.diagnostics, session.sources);
  }
  const auto elaborated = elaborate(session, front, *entry, {}, session.diagnostics);
  auto arranged = elaborated ? arrange(session, *elaborated, session.diagnostics) : std::nullopt;
  if (elaborated && !arranged && on_demand_alone(session.diagnostics)) {
    session.diagnostics = {};
    session.options.grain = Grain::none;
    arranged = arrange(session, *elaborated, session.diagnostics);
  }
  if (!arranged) return session.failed() ? complaint(session.diagnostics, session.sources) : "refused without a word: ";
  const steps::Program lowered = lower(session, *arranged);
  EmitOptions options;
  options.with_main = true;
  options.target = session.options.target;
  options.program_name = lowered.core->entry;
  const auto module = emit_module(session, lowered, options);
  if (!module) return session.failed() ? std::string() : "refused without a word: ";
  const CurrentPhase phase("generate");
  generate(*module, FileKind::object);
  return "";
}

Verdict judge(const std::string& name, const std::string& text, std::uint64_t number) {
  Session session(own_resources());
  std::string said;
  const Front front = check_text(session, name, text);
  const bool readable = !session.failed();
  check_instances(session, front, said);
  const auto told = [&](const std::string& why) {
    return Verdict{wrong, why + render_human(session.diagnostics, session.sources, false)};
  };
  if (const std::string why = complaint(session.diagnostics, session.sources); !why.empty()) return told(why);
  if (!fit_for_terminals(said)) return told("control bytes: ");
  if (!readable) return {};
  const bool accepted = !session.failed();
  session.diagnostics = {};
  session.options.node.clear();
  const std::string why = build_object(session, front, number);
  if (!why.empty()) return told(why);
  // True if an entry is chosen; otherwise `check` knows less than the build.
  const bool chosen = !session.options.node.empty();
  if (accepted && session.failed() && !chosen) return told("accepted by check, refused by build: ");
  return {session.failed() ? refused : built, {}};
}

Verdict judge_safely(const std::string& name, const std::string& text, std::uint64_t number) {
  try {
    return judge(name, text, number);
  } catch (const std::bad_alloc&) {
    _exit(out_of_memory);
  } catch (const std::exception& e) {
    return {wrong, internal_error_text(e.what())};
  }
}

void limit_process() {
  constexpr rlim_t most = rlim_t{4} << 30;
  const rlimit memory{most, most}, none{0, 0};
#ifndef __SANITIZE_ADDRESS__
  setrlimit(RLIMIT_AS, &memory);
#endif
  setrlimit(RLIMIT_CORE, &none);
}

void begin_case() {
  const itimerval seconds{{0, 0}, {20, 0}};  // limit of ten seconds each for check and build
  setitimer(ITIMER_PROF, &seconds, nullptr);
  alarm(300);
}

struct Arguments {
  std::uint64_t from = 0, count = 1000, jobs = 1;
  std::string print;
  bool booleans = false;
  std::vector<std::string> folders;
};

struct Case {
  std::filesystem::path path;
  std::string text;
  std::string unchanged;  // source from which the case was made
};

struct Task {
  const std::vector<TokenSource>& sources;  // if empty, the cases are programs of Boolean equations
  Shared& shared;
  std::uint64_t end, step;
};

Case make_case(const std::vector<TokenSource>& sources, std::uint64_t number) {
  if (sources.empty()) return {"booleans.rml", boolean_program(number), {}};
  const TokenMutant mutant = mutate_tokens(sources, number);
  return {mutant.source->path, mutant.text, mutant.source->text};
}

void work(const Task& task) {
  limit_process();
  Shared& shared = task.shared;
  for (std::uint64_t n = 0; shared.at < task.end && n < cases_of_worker; ++n) {
    begin_case();
    const Case made = make_case(task.sources, shared.at);
    const std::string name = made.path.string();
    const Verdict verdict = judge_safely(name, shared.unchanged ? made.unchanged : made.text, shared.at);
    if (shared.unchanged) return;
    if (verdict.outcome == wrong)
      std::printf("case %llu (%s): %s\n", static_cast<unsigned long long>(shared.at), name.c_str(),
                  verdict.what.c_str());
    std::fflush(stdout);
    ++shared.seen[verdict.outcome];
    shared.at += task.step;
  }
}

int wait_for_work(const Task& task) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    Task own = task;
    run_with_deep_stack([](void* t) { work(*static_cast<const Task*>(t)); }, &own);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

std::string death(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == out_of_memory ? "over 4 GB" : "an exit";
  const int signal = WTERMSIG(status);
  return signal == SIGPROF || signal == SIGALRM ? "over 10 s" : std::string("signal ") + strsignal(signal);
}

void supervise(const Task& task) {
  Shared& shared = task.shared;
  while (shared.at < task.end) {
    const int status = wait_for_work(task);
    if (status == 0) continue;
    const bool excess = WIFEXITED(status) || WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM;
    shared.unchanged = true;
    const bool as_before = excess && wait_for_work(task) != 0;
    shared.unchanged = false;
    if (!as_before)
      std::printf("case %llu (%s): %s\n", static_cast<unsigned long long>(shared.at),
                  make_case(task.sources, shared.at).path.c_str(), death(status).c_str());
    ++shared.seen[as_before ? refused : wrong];
    shared.at += task.step;
  }
}

int run(const Arguments& arguments, const std::vector<TokenSource>& sources) {
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared) * arguments.jobs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (shared == MAP_FAILED) return 2;
  for (std::uint64_t j = 0; j < arguments.jobs; ++j) {
    shared[j].at = arguments.from + j;
    const Task task{sources, shared[j], arguments.from + arguments.count, arguments.jobs};
    if (fork() != 0) continue;
    supervise(task);
    std::fflush(stdout);
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  std::uint64_t seen[outcomes] = {};
  for (std::uint64_t j = 0; j < arguments.jobs; ++j)
    for (std::size_t o = 0; o < outcomes; ++o) seen[o] += shared[j].seen[o];
  std::printf("cases=%llu refused=%llu built=%llu wrong=%llu\n",
              static_cast<unsigned long long>(seen[refused] + seen[built] + seen[wrong]),
              static_cast<unsigned long long>(seen[refused]), static_cast<unsigned long long>(seen[built]),
              static_cast<unsigned long long>(seen[wrong]));
  return seen[wrong] == 0 ? 0 : 1;
}

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  using namespace rml::fuzz;
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    const bool followed = k + 1 < argc;
    if (option == "--from" && followed)
      arguments.from = std::strtoull(argv[++k], nullptr, 10);
    else if (option == "--count" && followed)
      arguments.count = std::strtoull(argv[++k], nullptr, 10);
    else if (option == "--jobs" && followed)
      arguments.jobs = std::max<std::uint64_t>(1, std::strtoull(argv[++k], nullptr, 10));
    else if (option == "--print" && followed)
      arguments.print = argv[++k];
    else if (option == "--booleans")
      arguments.booleans = true;
    else
      arguments.folders.push_back(option);
  }
  const std::vector<TokenSource> sources = token_sources(arguments.folders);
  if (sources.empty() != arguments.booleans) {
    std::fprintf(stderr,
                 "usage: compile_fuzz [--from CASE] [--count N] [--jobs N] [--print CASE] --booleans | FOLDER…\n");
    return 2;
  }
  if (arguments.print.empty()) return run(arguments, sources);
  const Case made = make_case(sources, std::strtoull(arguments.print.c_str(), nullptr, 10));
  std::printf("%s", made.text.c_str());
  std::fprintf(stderr, "%s\n", made.path.parent_path().c_str());
  return 0;
}
