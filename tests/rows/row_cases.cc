// Runs programs in every way and compares the rows after each row of input with expected files
// and with the denotation.
//
//   row_cases FOLDER LIST [NAME …]
//
// FOLDER/NAME.rml is a language test (docs/manual/tests.md): `-- run: main` with NAME.in.chron
// and NAME.out.chron, or `-- reject: CODE "…"`. In NAME.out.chron the line `-- after | 0 0 2`
// gives the number of rows that are written after each row of input. The values were computed by
// another evaluator, or by hand.
//
// LIST names the programs that the compiler does not yet treat correctly, one per line, with the
// outcome after `#`. They must fail: when one is fixed, remove it from the list.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <sstream>

#include "compiler/read_file.h"
#include "driver/checks/compare_chronograms.h"
#include "rows/subject.h"

namespace rml::fuzz {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::string error;
  return read_file(file, error).value_or("");
}

// Returns the text after the words, to the end of the line.
std::string after_words(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + words.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<std::int64_t> numbers(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::int64_t> list;
  for (std::int64_t n = 0; words >> n;) list.push_back(n);
  return list;
}

struct Outcome {
  std::string what;  // expected outcome: "agrees", another verdict, the code of a refusal, or "accepted"
  std::string text;
  bool denotation = true;  // true: the denotation agrees with the expected rows
};

// Compares the denotation with the expected rows.
std::string judge_denotation(const Determined& found, const std::string& expected, const Core& core) {
  std::vector<ChronogramPort> ports;
  for (const Port& port : core.outputs) ports.push_back({port.name, core[port.value].dtype, core[port.value].shape});
  std::string error;
  const auto rows = read_chronogram(expected, ports, error);
  if (!rows) return error;
  const auto after = numbers(after_words(expected, "-- after |"));
  if (after != found.after) {
    std::string text = "the denotation determines";
    for (const std::int64_t n : found.after) text += " " + std::to_string(n);
    return text;
  }
  constexpr double tolerance = 1e-9;
  const std::string different = difference(*rows, found.outputs, tolerance);
  return different.empty() ? "" : "the denotation's rows differ:\n" + different;
}

Outcome run_case(const fs::path& file) {
  const std::string source = contents(file);
  const std::string code = after_words(source, "-- reject: ").substr(0, 5);
  Subject subject(Subject::text, source);
  if (!code.empty()) {
    if (subject.refusal() == code) return {"agrees", ""};
    return {subject.refusal().empty() ? "accepted" : subject.refusal(), subject.messages()};
  }
  if (subject.core() == nullptr) return {"ill-formed", subject.messages(), false};
  // The file of another test, if the text names one.
  const auto beside = [&](const std::string& word, const char* suffix) {
    const std::string named = after_words(source, "-- " + word + ": ");
    return contents(named.empty() ? fs::path(file).replace_extension(suffix) : file.parent_path() / named);
  };
  const std::string expected = beside("output", ".out.chron");
  std::string error;
  const Chronogram inputs = subject.read_inputs(beside("input", ".in.chron"), error);
  if (!error.empty()) return {"ill-formed", error, false};
  const auto cycles = static_cast<std::int64_t>(inputs.at(0).cells.size());
  const Due due = subject.determine(inputs, cycles);
  if (std::string what = judge_denotation(due.rows, expected, *subject.core()); !what.empty())
    return {"denotation", what, false};
  if (!subject.refusal().empty()) return {subject.refusal(), subject.messages()};
  Finding worst;
  for (const Way& way : ways) {
    Finding found = subject.compare(way, inputs, cycles, due);
    if (found.verdict < worst.verdict) worst = std::move(found);
  }
  return {name(worst.verdict), worst.text};
}

std::set<std::string> read_list(const fs::path& file) {
  std::set<std::string> list;
  std::istringstream lines(contents(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (std::string program; words >> program) list.insert(program);
  }
  return list;
}

// True if the program fails exactly if it is on the list.
bool as_listed(const std::string& program, const Outcome& outcome, bool listed) {
  const bool agrees = outcome.what == "agrees";
  if (outcome.denotation && agrees != listed) return true;
  std::printf("%s: %s\n", program.c_str(), agrees ? "agrees: take it off the list" : outcome.what.c_str());
  if (!agrees) std::printf("%s\n", outcome.text.c_str());
  return false;
}

int run(const fs::path& folder, const fs::path& failing, const std::vector<std::string>& chosen) {
  std::set<std::string> list = read_list(failing);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".rml") files.push_back(entry.path());
  std::ranges::sort(files);
  int passed = 0, failed = 0;
  const std::size_t known = list.size();
  for (const fs::path& file : files) {
    const std::string program = file.stem().string();
    if (!chosen.empty() && std::ranges::find(chosen, program) == chosen.end()) continue;
    ++(as_listed(program, run_case(file), list.erase(program) > 0) ? passed : failed);
  }
  if (chosen.empty())
    for (const std::string& program : list) {
      std::printf("%s is on the list, but there is no such program\n", program.c_str());
      ++failed;
    }
  std::printf("%d passed, %d failed; %zu are known to fail\n", passed, failed, known);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace rml::fuzz

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "row_cases FOLDER LIST [NAME ...]\n");
    return 2;
  }
  return rml::fuzz::run(argv[1], argv[2], {argv + 3, argv + argc});
}
