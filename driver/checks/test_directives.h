// Reads the comments at the head of a language test, which say how to run it (docs/manual/tests.md).
//
//   -- run: NODE [--cycles N] [--seed S] [--horizon N] [-D NAME=VALUE]…
//   -- input: FILE   -- output: FILE     of the run above; default NAME.in.chron, NAME.out.chron
//   -- stops: CYCLE "text"               the run above ends with a fault
//   -- reference only                    a program that the compiled engine refuses (E0701)
//   -- simplified only                   values that only simplification makes exact
//   -- reject: CODE "text"   -- warn: CODE ["text"]   -- accept
//   -- command: build % -o x             rmlc is run with these arguments, % being the file
//   -- tolerance: 1e-5   -- link: FILE.c
//   -- ^^^ [CODE]                        the range above these carets is where a message points
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"

namespace rml {

struct TestRun {
  std::string node;
  std::vector<std::string> definitions;
  std::optional<std::int64_t> cycles;
  std::uint64_t seed = 0;
  std::int64_t horizon = 0;
  std::filesystem::path input, output;  // paths of the files, relative paths resolved
  std::optional<std::int64_t> stop_cycle;
  std::string stop_text;
};

struct ExpectedMessage {
  Code code;
  std::string text;  // text that must occur in the message, a label or a note
};

struct Marker {
  std::uint32_t line = 0;            // number of the source line that the message points into, from 1
  std::uint32_t begin = 0, end = 0;  // range of columns, counted from 1; the end is exclusive
  std::optional<Code> code;
};

struct LanguageTest {
  std::filesystem::path file;
  std::string text;
  std::vector<TestRun> runs;
  std::vector<ExpectedMessage> rejects, warnings;
  std::vector<Marker> markers;
  bool accept = false;
  bool reference_only = false;
  bool simplified_only = false;
  double tolerance = 1e-6;
  std::vector<std::filesystem::path> sources_to_link;
  std::vector<std::string> command;  // words of the command line; empty: the test checks the file
};

// Returns nothing, and the reason with a line number, if the directives are invalid.
std::optional<LanguageTest> read_language_test(const std::filesystem::path& file, std::string& error);

}  // namespace rml
