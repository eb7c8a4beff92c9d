// Compares the rows written after each row of input with the rows that are determined then, for
// generated programs or files.
//
//   rows_fuzz [--diff] [--from SEED] [--count N] [--jobs N] [--unfinished N] [--print SEED]
//   rows_fuzz --files [--jobs N] FILE…
//
// A program runs on drawn inputs in the reference engine, compiled, and with its state saved and
// loaded after every row. Every eighth program runs in all ways (subject.h). The outcome of a
// program is the worst result:
//
//   wrong        a written row has a wrong value
//   misled       a written row has a wrong value in a run that assumes
//   early        a row is written that is not determined
//   stops        a run stops although nothing fails
//   assumes      a run stops because an assumption of the schedule is false
//   withheld     a determined row is not written
//   agrees       all rows are right
//   refused      the program is refused rightly, as far as the inputs show
//   known        the program is refused, but some input makes all rows known
//   unmet        refused because a value needs itself, but that happens for none of many inputs, and a row is known
//   unscheduled  refused with E0701
//   ill          refused before that by an error in the generator
//   crashed, hung
//   (knots: accepted, but some row needs itself)
//
// --print also shows inputs, of --count rows. The last line counts the outcomes. Of each bad
// outcome the first programs are printed. The exit status is 1 if there are bad outcomes, except
// --unfinished many of the scheduler's known gaps: misled, assumes, withheld, known, unscheduled.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "rows/file_inputs.h"
#include "rows/generate_ends.h"
#include "rows/subject.h"

namespace rml::fuzz {

namespace {

enum Class : std::uint8_t {
  wrong,
  misled,
  early,
  stops,
  assumes,
  withheld,
  agrees,
  known,
  unmet,
  unscheduled,
  refused,
  ill,
  crashed,
  hung,
  classes
};
constexpr const char* class_names[classes] = {"wrong",    "misled", "early",   "stops", "assumes",
                                              "withheld", "agrees", "known",   "unmet", "unscheduled",
                                              "refused",  "ill",    "crashed", "hung"};
static_assert(static_cast<int>(Verdict::agrees) == agrees && verdicts == agrees + 1);

bool is_unfinished(Class c) { return c == misled || c == assumes || c == withheld || c == known || c == unscheduled; }

constexpr unsigned most_seconds = 120;
constexpr std::uint64_t told = 2;  // largest number of programs that a worker prints for each outcome

struct Shared {
  std::uint64_t at, seen[classes], knots;
};

struct Arguments {
  std::uint64_t from = 0, count = 200, jobs = 1, unfinished = 0;
  bool diff = false, printing = false, of_files = false;
  std::vector<std::string> files;
};

struct Outcome {
  Class what = agrees;
  std::string text;
  bool knot = false;
};

std::string text_of(const Arguments& arguments, std::uint64_t seed) {
  return arguments.diff ? generate_training(seed) : generate_ends(seed);
}

// ---- judging

// Searches for an input that shows that the refusal is wrong. Rows near the end may look ahead.
Outcome judge_refusal(const Subject& subject, const std::string& text, std::uint64_t seed) {
  const std::string& code = subject.refusal();
  if (code == "E0701") return {unscheduled, subject.messages()};
  if (code.substr(0, 3) != "E05") return {ill, subject.messages()};
  if (subject.core() == nullptr) return {refused, ""};
  constexpr std::int64_t cycles = 12, longer = 48, look_ahead = 4;
  constexpr std::uint64_t tries = 40;
  bool knot = false;
  std::int64_t most = 0;
  const auto draw = [&](std::int64_t length) {
    for (std::uint64_t k = 0; k < tries && !knot; ++k) {
      const Determined found = determine(*subject.core(), draw_inputs(seed * 1000 + k, length), length);
      most = std::max(most, found.after.back());
      knot = found.knotted;
    }
  };
  draw(cycles);
  if (most == 0) draw(longer);  // draws more cycles, because a value may need itself at ever more distant cycles
  const std::string rows =
      "some input makes " + std::to_string(most) + " of " + std::to_string(cycles) + " rows known\n";
  if (code == "E0501")
    return knot || most == 0 ? Outcome{refused, ""} : Outcome{unmet, rows + subject.messages() + text};
  return most >= cycles - look_ahead ? Outcome{known, rows + subject.messages()} : Outcome{refused, ""};
}

void take(Outcome& worst, const Finding& found, const Chronogram& inputs) {
  if (static_cast<Class>(found.verdict) >= worst.what) return;
  worst.what = static_cast<Class>(found.verdict);
  worst.text = found.text + "\n" + print_chronogram(inputs);
}

// True if some continuation of these inputs makes a later row known.
bool goes_on(const Subject& subject, const Chronogram& inputs, std::int64_t cycles, std::int64_t rows,
             std::uint64_t seed) {
  constexpr std::int64_t more = 5;
  constexpr std::uint64_t tries = 40;
  for (std::uint64_t k = 0; k < tries; ++k) {
    Chronogram longer = inputs;
    const Chronogram following = draw_inputs(seed * 1000 + 500 + k, more);
    for (std::size_t i = 0; i < longer.size(); ++i)
      longer[i].cells.insert(longer[i].cells.end(), following[i].cells.begin(), following[i].cells.end());
    if (determine(*subject.core(), longer, cycles + more).after.back() > rows) return true;
  }
  return false;
}

Outcome judge_generated(const Arguments& arguments, std::uint64_t seed) {
  const std::string text = text_of(arguments, seed);
  Subject subject(Subject::text, text);
  if (!subject.refusal().empty()) return judge_refusal(subject, text, seed);
  Outcome worst;
  constexpr std::int64_t lengths[] = {5, 9, 14};
  for (std::size_t k = 0; k < std::size(lengths); ++k) {
    const Chronogram inputs = draw_inputs(seed * 1000 + k, lengths[k]);
    const Due due = subject.determine(inputs, lengths[k]);
    worst.knot |= due.rows.next == Denotation::Why::needs_itself;
    const std::size_t tried = seed % 8 == 0 && k == 1 ? std::size(ways) : cheap_ways;
    for (std::size_t w = 0; w < tried; ++w) {
      const Finding found = subject.compare(ways[w], inputs, lengths[k], due);
      if (!found.says_over || goes_on(subject, inputs, lengths[k], due.rows.after.back(), seed))
        take(worst, found, inputs);
    }
  }
  return worst;
}

Outcome judge_file(const std::string& file) {
  Subject subject(Subject::file, file, entry_of(file));
  if (subject.refusal() == "E0701") return {unscheduled, subject.messages()};
  if (!subject.refusal().empty()) return {refused, ""};
  Outcome worst;
  constexpr std::int64_t cycles = 10;
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto inputs = draw_file_inputs(*subject.core(), k, cycles);
    if (!inputs) return {ill, "its inputs cannot be drawn"};
    const Due due = subject.determine(*inputs, cycles);
    worst.knot |= due.rows.next == Denotation::Why::needs_itself;
    for (std::size_t w = 0; w < cheap_ways; ++w) take(worst, subject.compare(ways[w], *inputs, cycles, due), *inputs);
  }
  return worst;
}

Outcome judge(const Arguments& arguments, std::uint64_t at) {
  try {
    return arguments.of_files ? judge_file(arguments.files[at]) : judge_generated(arguments, at);
  } catch (const std::exception& e) {
    return {crashed, e.what()};
  }
}

// ---- workers

void tell(const Arguments& arguments, std::uint64_t at, Class what, const std::string& text, std::uint64_t before) {
  if (what == agrees || what == refused) return;
  if (arguments.of_files)
    std::printf("%s: %s: %s\n", arguments.files[at].c_str(), class_names[what],
                text.substr(0, text.find('\n')).c_str());
  else if (before < told)
    std::printf("seed %llu: %s: %s\n%s\n", static_cast<unsigned long long>(at), class_names[what], text.c_str(),
                text_of(arguments, at).c_str());
  std::fflush(stdout);
}

void note(const Arguments& arguments, Shared& shared, Class what, const std::string& text) {
  tell(arguments, shared.at, what, text, shared.seen[what]++);
  shared.at += arguments.jobs;
}

void work(const Arguments& arguments, Shared& shared, std::uint64_t end) {
#ifndef __SANITIZE_ADDRESS__
  constexpr rlim_t most = rlim_t{4} << 30;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
#endif
  while (shared.at < end) {
    alarm(most_seconds);
    const Outcome outcome = judge(arguments, shared.at);
    shared.knots += outcome.knot ? 1 : 0;
    note(arguments, shared, outcome.what, outcome.text);
  }
  _exit(0);
}

// If a worker dies, another one continues after its program.
void supervise(const Arguments& arguments, Shared& shared, std::uint64_t end) {
  while (shared.at < end) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) work(arguments, shared, end);
    int status = 0;
    waitpid(child, &status, 0);
    if (shared.at >= end) break;
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    note(arguments, shared, late ? hung : crashed, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "an exit");
  }
  _exit(0);
}

int run(const Arguments& arguments) {
  const std::size_t bytes = sizeof(Shared) * arguments.jobs;
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 2;
  auto* const shared = static_cast<Shared*>(block);
  const std::uint64_t end = arguments.from + arguments.count;
  for (std::uint64_t j = 0; j < arguments.jobs; ++j) {
    shared[j].at = arguments.from + j;
    std::fflush(nullptr);
    if (fork() == 0) supervise(arguments, shared[j], end);
  }
  while (wait(nullptr) > 0) {
  }
  Shared sum{};
  for (std::uint64_t j = 0; j < arguments.jobs; ++j) {
    sum.knots += shared[j].knots;
    for (std::size_t c = 0; c < classes; ++c) sum.seen[c] += shared[j].seen[c];
  }
  std::uint64_t bad = 0, unfinished = 0;
  std::printf("cases=%llu", static_cast<unsigned long long>(arguments.count));
  for (std::size_t c = 0; c < classes; ++c) {
    std::printf(" %s=%llu", class_names[c], static_cast<unsigned long long>(sum.seen[c]));
    if (is_unfinished(static_cast<Class>(c)))
      unfinished += sum.seen[c];
    else if (c != agrees && c != refused)
      bad += sum.seen[c];
  }
  std::printf(" knots=%llu\n", static_cast<unsigned long long>(sum.knots));
  return arguments.of_files || (bad == 0 && unfinished <= arguments.unfinished) ? 0 : 1;
}

// ---- arguments

bool read(Arguments& arguments, int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    const bool followed = k + 1 < argc;
    if (option == "--diff") {
      arguments.diff = true;
    } else if (option == "--files") {
      arguments.of_files = true;
    } else if (option == "--unfinished" && followed) {
      arguments.unfinished = std::strtoull(argv[++k], nullptr, 10);
    } else if ((option == "--from" || option == "--print") && followed) {
      arguments.printing = option == "--print";
      arguments.from = std::strtoull(argv[++k], nullptr, 10);
    } else if (option == "--count" && followed) {
      arguments.count = std::strtoull(argv[++k], nullptr, 10);
    } else if (option == "--jobs" && followed) {
      arguments.jobs = std::max<std::uint64_t>(1, std::strtoull(argv[++k], nullptr, 10));
    } else if (arguments.of_files) {
      arguments.files.push_back(option);
    } else {
      return false;
    }
  }
  if (arguments.of_files) arguments.from = 0, arguments.count = arguments.files.size();
  return true;
}

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  rml::fuzz::Arguments arguments;
  if (!rml::fuzz::read(arguments, argc, argv)) {
    std::fprintf(stderr,
                 "rows_fuzz [--diff] [--from SEED] [--count N] [--jobs N] [--unfinished N] [--print SEED]\n"
                 "rows_fuzz --files [--jobs N] FILE...\n");
    return 2;
  }
  if (arguments.printing) {
    const std::string inputs = rml::print_chronogram(rml::fuzz::draw_inputs(arguments.from, arguments.count));
    std::printf("%s(*\n%s*)\n", rml::fuzz::text_of(arguments, arguments.from).c_str(), inputs.c_str());
    return 0;
  }
  return rml::fuzz::run(arguments);
}
