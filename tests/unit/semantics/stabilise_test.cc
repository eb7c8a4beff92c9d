// Stabilisation, from core text: tests/golden/stabilise/NAME.core in, NAME.expected, simplified, out.
// RML_BLESS=1 rewrites the expectations.
#include "semantics/stabilise.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "semantics/instantiate.h"

namespace rml {
namespace {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

Core read(const std::filesystem::path& path) {
  std::string error;
  std::optional<Core> core = read_core(read_text(path), error);
  EXPECT_EQ(error, "");
  return core.value_or(Core{});
}

TEST(Stabilise, Golden) {
  for (const auto& entry : std::filesystem::directory_iterator(RML_TESTS "/golden/stabilise")) {
    if (entry.path().extension() != ".core") continue;
    SCOPED_TRACE(entry.path().string());
    Core core = read(entry.path());
    EXPECT_EQ(verify(core), "");
    EXPECT_EQ(stabilise(core), entry.path().stem() != "left_alone");
    EXPECT_EQ(verify(core), "");
    core = simplify(std::move(core), {});
    const std::string text = print_core(core);
    std::filesystem::path expected = entry.path();
    expected.replace_extension(".expected");
    if (std::getenv("RML_BLESS") != nullptr) std::ofstream(expected) << text;
    EXPECT_EQ(text, read_text(expected));
    EXPECT_FALSE(stabilise(core)) << "not idempotent";
  }
}

}  // namespace
}  // namespace rml
