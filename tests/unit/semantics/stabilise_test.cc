// Stabilisation: what golden tests do not show.
#include "semantics/simplify/stabilise.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "semantics/simplify/simplify.h"

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

TEST(Stabilise, SaysWhetherItChangedAnythingAndDoesSoOnce) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RML_TESTS "/golden/stabilise")) {
    if (entry.path().extension() != ".in") continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    Core core = read(entry.path());
    EXPECT_EQ(verify(core), "");
    EXPECT_EQ(stabilise(core), entry.path().stem() != "left_alone");
    EXPECT_EQ(verify(core), "");
    core = simplify(std::move(core), {});
    EXPECT_FALSE(stabilise(core));
  }
  EXPECT_GE(files, 3);
}

}  // namespace
}  // namespace rml
