// Properties of stabilisation that golden tests do not show.
#include "semantics/simplify/stabilise.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core_texts.h"
#include "semantics/simplify/simplify.h"

namespace rml {
namespace {

TEST(Stabilise, SaysWhetherItChangedAnythingAndDoesSoOnce) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RML_TESTS "/golden/stabilise")) {
    if (entry.path().extension() != ".in") continue;
    ++files;
    SCOPED_TRACE(entry.path().string());
    Core core = core_of(read_text(entry.path()));
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
