// Runs one language test in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rml {

struct TestResult {
  bool passed = false;
  std::string text;  // a description of the failure, ready to print; when blessed, the files that were written
};

// How a test runs: through the reference engine and the compiled one, at -O0 and -O2. With `bless` their common answer
// becomes the expectation. With threads > 1 the program is also compiled at -O2 for that many threads, and must give
// the same bits with any number of them. `brief` leaves out -O0, networks and restarts, for tests of values whose
// constructs other tests cover. `on_demand` compiles at -O2 alone, without a schedule even if the program has one.
struct TestModes {
  bool bless = false, brief = false, on_demand = false;
  std::uint32_t threads = 1;
};
TestResult run_language_test(const std::filesystem::path& file, const TestModes&);

}  // namespace rml
