// One language test, start to end, in this process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rml {

struct TestResult {
  bool passed = false;
  std::string text;  // what went wrong, ready to print; when blessed, what was written
};

// A run is driven through the reference engine and the compiled one at -O0 and -O2; with
// `bless` their common answer becomes the expectation. With threads > 1 it is compiled at -O2 for so many as well,
// and must give the same bits in any number of them. `brief` leaves out -O0, networks and restarts, for tests of values
// whose constructs others have tested. `on_demand` compiles at -O2 alone, what has a schedule as well.
struct TestModes {
  bool bless = false, brief = false, on_demand = false;
  std::uint32_t threads = 1;
};
TestResult run_language_test(const std::filesystem::path& file, const TestModes&);

}  // namespace rml
