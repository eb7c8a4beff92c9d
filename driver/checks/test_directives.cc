// Reads directives. A directive is a line comment whose first word is known and followed by a colon (or stands alone:
// accept). Other comments are the author's. A word that is nearly a directive is a mistake.
#include "driver/checks/test_directives.h"

#include <sstream>

#include "compiler/read_file.h"
#include "frontend/explain.h"

namespace rml {
namespace {

const std::vector<std::string> words{"run",    "input",   "output",    "stops", "reject",         "warn",
                                     "accept", "command", "tolerance", "link",  "reference only", "simplified only"};

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::uint32_t code_points(std::string_view text) {
  std::uint32_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

// The text between the first and the last quotation mark, or an empty text.
std::string quoted(const std::string& text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = text.rfind('"');
  return begin == std::string::npos || begin == end ? "" : text.substr(begin + 1, end - begin - 1);
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, std::string& error) : error_(error) { test_.file = file; }

  std::optional<LanguageTest> run() {
    std::string why;
    const auto text = read_file(test_.file, why);
    if (!text) {
      error_ = "cannot be read: " + why;
      return std::nullopt;
    }
    test_.text = *text;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      if (!take(line)) return std::nullopt;
    }
    if (test_.runs.empty() && test_.rejects.empty() && test_.warnings.empty() && !test_.accept) {
      error_ =
          "is not a test: its first lines say how to test it, for example `-- run: main` (with the rows in "
          "NAME.in.chron "
          "and NAME.out.chron), `-- accept` or `-- reject: E0301 \"text\"`; docs/manual/tests.md lists all of them";
      return std::nullopt;
    }
    return finish();
  }

 private:
  bool fail(const std::string& why) {
    error_ = "line " + std::to_string(line_) + ": " + why;
    return false;
  }

  bool take(const std::string& line) {
    const std::size_t dashes = line.find_first_not_of(" \t");
    if (dashes == std::string::npos || line.compare(dashes, 2, "--") != 0) {
      source_line_ = line_;
      return true;
    }
    const std::string body = trimmed(line.substr(dashes + 2));
    if (!body.empty() && body[0] == '^') return marker(line);
    source_line_ = line_;
    if (body == "accept") return test_.accept = true;
    if (body == "reference only") return test_.reference_only = true;
    if (body == "simplified only") return test_.simplified_only = true;
    const std::size_t colon = body.find(':');
    if (colon == std::string::npos) return true;
    const std::string word = body.substr(0, colon);
    const std::string rest = trimmed(body.substr(colon + 1));
    if (word.find(' ') != std::string::npos) return true;
    return directive(word, rest);
  }

  bool directive(const std::string& word, const std::string& rest) {
    if (word == "run") return run_directive(rest);
    if (word == "input" || word == "output" || word == "stops") return of_the_run(word, rest);
    if (word == "reject" || word == "warn") return message(word, rest);
    if (word == "tolerance") return number(rest, test_.tolerance);
    if (word == "link") {
      test_.sources_to_link.push_back(test_.file.parent_path() / rest);
      return true;
    }
    if (word == "command") {
      std::istringstream parts(rest);
      for (std::string part; parts >> part;) test_.command.push_back(part);
      return !test_.command.empty() || fail("command: name the command");
    }
    const std::string near = did_you_mean(word, words);
    return near.empty() || word == near || fail("'" + word + "': did you mean '" + near + "'?");
  }

  template <class T>
  bool number(const std::string& text, T& value) {
    std::istringstream in(text);
    return (in >> value && in.eof()) || fail("'" + text + "' is not a number");
  }

  bool run_directive(const std::string& rest) {
    std::istringstream parts(rest);
    TestRun run;
    parts >> run.node;
    if (run.node.empty()) return fail("run: name the node");
    for (std::string option, value; parts >> option;) {
      if (!(parts >> value)) return fail("'" + option + "' lacks its value");
      if (option == "-D") {
        run.definitions.push_back(value);
      } else if (option == "--cycles") {
        if (!number(value, run.cycles.emplace())) return false;
      } else if (option == "--seed") {
        if (!number(value, run.seed)) return false;
      } else if (option == "--horizon") {
        if (!number(value, run.horizon)) return false;
      } else {
        return fail("run: unknown option '" + option + "'");
      }
    }
    test_.runs.push_back(std::move(run));
    return true;
  }

  bool of_the_run(const std::string& word, const std::string& rest) {
    if (test_.runs.empty()) return fail("'" + word + "' must follow its run");
    TestRun& run = test_.runs.back();
    if (word == "stops") {
      run.stop_text = quoted(rest);
      return number(rest.substr(0, rest.find_first_of(" \"")), run.stop_cycle.emplace());
    }
    (word == "input" ? run.input : run.output) = test_.file.parent_path() / rest;
    return true;
  }

  bool message(const std::string& word, const std::string& rest) {
    const std::string name = rest.substr(0, rest.find_first_of(" \t"));
    const auto code = code_from_name(name);
    if (!code) return fail("'" + name + "' is not the code of a message");
    (word == "reject" ? test_.rejects : test_.warnings).push_back({*code, quoted(rest)});
    return true;
  }

  bool marker(const std::string& line) {
    const std::size_t begin = line.find('^');
    const std::size_t end = line.find_first_not_of('^', begin);
    Marker m;
    m.line = source_line_;
    m.begin = code_points(std::string_view(line).substr(0, begin)) + 1;
    m.end = m.begin + static_cast<std::uint32_t>((end == std::string::npos ? line.size() : end) - begin);
    const std::string code = end == std::string::npos ? "" : trimmed(line.substr(end));
    if (!code.empty()) {
      m.code = code_from_name(code.substr(0, code.find(' ')));
      if (!m.code) return fail("'" + code + "' is not the code of a message");
    }
    test_.markers.push_back(m);
    return true;
  }

  std::optional<LanguageTest> finish() {
    const std::string stem = (test_.file.parent_path() / test_.file.stem()).string();
    for (std::size_t i = 0; i < test_.runs.size(); ++i) {
      TestRun& run = test_.runs[i];
      if (i > 0 && run.output.empty()) {
        error_ = "the second and later runs name their output";
        return std::nullopt;
      }
      if (run.input.empty()) run.input = stem + ".in.chron";
      if (run.output.empty()) run.output = stem + ".out.chron";
    }
    return std::move(test_);
  }

  std::string& error_;
  LanguageTest test_;
  std::uint32_t line_ = 0;
  std::uint32_t source_line_ = 0;
};

}  // namespace

std::optional<LanguageTest> read_language_test(const std::filesystem::path& file, std::string& error) {
  return Reader(file, error).run();
}

}  // namespace rml
