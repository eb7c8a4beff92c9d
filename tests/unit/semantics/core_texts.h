// Reads cores from text, and texts from files, for tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "semantics/core/core.h"

namespace rml {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Returns the core; on an error fails the test and returns an empty core. The core need not be
// well formed (`verify`).
inline Core core_of(const std::string& text) {
  std::string error;
  std::optional<Core> core = read_core(text, error);
  EXPECT_TRUE(core.has_value() && error.empty()) << error << "\n" << text;
  return core.value_or(Core{});
}

}  // namespace rml
