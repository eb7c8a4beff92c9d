// The text form of cores and its verifier.
//
// Every file of tests/golden/core is read, printed to the same text, and verified, except
// everything.core, which has one construct of each kind and is not well formed. For each
// invariant, one core breaks it.
#include <gtest/gtest.h>

#include <filesystem>

#include "core_texts.h"
#include "semantics/core/core.h"

namespace rml {
namespace {

TEST(CoreText, GoldenFilesRoundTrip) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RML_TESTS "/golden/core")) {
    if (entry.path().extension() != ".core") continue;
    ++files;
    const std::string text = read_text(entry.path());
    const Core core = core_of(text);
    EXPECT_EQ(print_core(core), text) << entry.path();
    if (entry.path().stem() != "everything") {
      EXPECT_EQ(verify(core), "") << entry.path();
    }
  }
  EXPECT_GE(files, 5);
}

TEST(CoreText, KeepsWhatItReads) {
  const Core core = core_of(read_text(RML_TESTS "/golden/core/everything.core"));
  ASSERT_EQ(core.values.size(), 26u);
  EXPECT_EQ(core.instances[1].path, "lstm.cell");
  EXPECT_EQ(core.instances[1].parent, InstanceId{0});
  EXPECT_EQ(core.externals[1].symbol, "odd name");
  EXPECT_EQ(core.externals[2].calling, Calling::asks);
  EXPECT_EQ(core.externals[3].calling, Calling::joins);
  ASSERT_TRUE(core.deal);
  EXPECT_EQ(core.deal->end, 1u);
  EXPECT_EQ(core.deal->per_step, 4u);
  EXPECT_EQ(core.clocks[3].parent, ClockId{2});
  EXPECT_FALSE(core.clocks[3].positive);
  EXPECT_EQ(core.values[2].span, (Span{1, 40, 48}));
  EXPECT_EQ(core.values[15].name, "odd \"name\"[1]");
  EXPECT_EQ(std::get<core::Apply>(core.values[19].rhs).key, 0xdeadbeefcafef00du);
  EXPECT_EQ(std::get<core::Apply>(core.values[19].rhs).attributes[2].number, 0.1);
  EXPECT_FALSE(std::get<core::Apply>(core.values[16].rhs).attributes[0].given);
  const Tensor& bits = std::get<core::Const>(core.values[12].rhs).value;
  EXPECT_EQ(bits.as<std::uint32_t>()[0], 0x7fc00001u);
  const Tensor& half = std::get<core::Const>(core.values[22].rhs).value;
  EXPECT_EQ(half.as<std::uint16_t>()[0], 0x2e66u);
  EXPECT_EQ(half.as<std::uint16_t>()[1], 0x7bffu);
  EXPECT_EQ(core.asserts[0].message, "must \"hold\"\nhere");
}

TEST(CoreText, ErrorsNameThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"core f\n%0: i32 = const x\n", "line 2, column 17: 'x' is not a constant of type i32"},
      {"core f\n%1: i32 = const 0\n", "line 2, column 1: values are numbered in order: expected %0"},
      {"core f\n\n%0: i33 = const 0\n", "line 3, column 5: no dtype is called 'i33'"},
      {"core f\n%0: i32 = frobnicate %1\n", "line 2, column 11: no operator is called 'frobnicate'"},
      {"core f\n%0: i32[2] = const [1;2]\n", "line 2, column 20: '[1;2]' is not a constant of type i32[2]"},
      {"core f\n%0: i32 = const 0 a b\n", "line 2, column 21: the line has more words than expected"},
      {"core f\nclock c3 = base on %0\n", "line 2, column 7: clocks are numbered in order: expected c2"},
      {"core f\ndeal 0 by 2\n", "line 2, column 6: the core has fewer inputs"},
      {"core f\nfoo\n", "line 2, column 1: expected a line of core, found 'foo'"},
      {"core f\n%0: i32 = fby %1\n", "line 2, column 17: expected '%', found the end of the line"},
      {"core \"f\n", "line 1, column 6: the string is not closed"},
      {"core f\n%0: i32[99999999999] = const 0\n", "line 2, column 5: no tensor has the shape [99999999999]"},
  };
  for (const auto& [text, expected] : cases) {
    std::string error;
    EXPECT_FALSE(read_core(text, error)) << text;
    EXPECT_EQ(error, expected);
  }
}

TEST(Core, ClocksAndValuesInTheUsersWords) {
  const Core core = core_of(
      "core f\nclock base\nclock c2 = base on %0\nclock c3 = c2 on not %3\n"
      "%0: bool = input 0 c\n%1: i32 = input 1 x\n%2: i32 on c2 = when %0 %1\n%3: bool on c2 = gt %2 %4\n"
      "%4: i32 = const 3\n%5: i32 on c3 = when not %3 %2 y\n%6: i32 = fby %4 %7\n%7: i32 = add %1 %6\n"
      "%8: bool = logical_not %0\n%9: i32 = post %6\n");
  EXPECT_EQ(clock_string(core, base_clock), "base");
  EXPECT_EQ(clock_string(core, ClockId{2}), "base on c");
  EXPECT_EQ(clock_string(core, ClockId{3}), "base on c on not ((x when c) > 3)");
  EXPECT_EQ(describe(core, ValueId{5}), "y");
  EXPECT_EQ(describe(core, ValueId{8}), "not c");
  EXPECT_EQ(describe(core, ValueId{6}), "3 fby (x + …)");
  EXPECT_EQ(describe(core, ValueId{99}), "?");
}

TEST(VerifyCore, RejectsEachBrokenInvariant) {
  const std::string head =
      "core f\nclock base\nclock c2 = base on %0\nclock c3 = base on not %0\n"
      "%0: bool = input 0 c\n%1: i32 = input 1 x\n%2: i32 on c2 = when %0 %1 y\n%3: i32 on c3 = when not %0 %1 z\n"
      "%4: i32 = const 0\n%5: bool = const T\n%6: bool = const F\n%7: bool = fby %5 %6 start\n";
  const std::string tail = "input c = %0\ninput x = %1\n";
  EXPECT_EQ(verify(core_of(head + tail)), "");
  const std::pair<const char*, const char*> cases[] = {
      {"%8: i32 = add %1 %99", "out of range"},
      {"%8: i32 = add %1 %2", "is on clock base on c, not on base"},
      {"%8: i32 = add %1", "does not take 1 operands"},
      {"%8: i32 = add %1 %0", "cannot be bool"},
      {"%8: f32 = add %1 %4", "cannot be f32"},
      {"%8: i32[2] = add %1 %4", "its shape is [2] but add yields []"},
      {"%8: i32 = sum %1", "sum takes 2 attributes"},
      {"%8: f32 = const 1\n%9: i32 = fby %4 %8", "has type f32, not i32"},
      {"%8: i32 = when %0 %1", "is not the clock of its operands, sampled"},
      {"%8: i32 on c2 = when not %0 %1", "is not the clock of its operands, sampled"},
      {"%8: i32 on c2 = when %1 %1", "is not a Boolean scalar"},
      {"%8: i32 = merge %0 %3 %2", "not on that of the condition, sampled"},
      {"%8: i32 on c2 = merge %0 %2 %3", "is on clock base, not on base on c"},
      {"%8: i32 = fby %1 %1", "neither a constant nor sampled by the start"},
      {"%8: i32 = fby %2 %1", "neither a constant nor sampled by the start"},
      {"%8: i32 = fby %4 %2", "is on clock base on c, not on base"},
      {"%8: i32 = post %2", "is on clock base on c, not on base"},
      {"%8: i32 on never = when %6 %1\n%9: i32 = add %8 %4", "is never present"},
      {"%8: i32 = input 1", "does not contain it at position 1"},
      {"%8: i32 = result 0 of %1", "of a value that is not a call"},
      {"%8: i32 on c7 = post %1", "its clock is out of range"},
      {"clock c4 = base on %1", "its condition is not a Boolean scalar"},
      {"clock c4 = c4 on %0", "its own ancestor"},
      {"clock c4 = c2 on %0", "its condition is not on its parent clock"},
      {"assert %1 \"m\"", "not a Boolean scalar"},
      {"output o = %50", "out of range"},
  };
  for (const auto& [lines, expected] : cases) {
    const std::string error = verify(core_of(head + lines + "\n" + tail));
    EXPECT_NE(error.find(expected), std::string::npos) << lines << "\n  says: " << error;
  }
}

TEST(VerifyCore, AcceptsInitOnStartAndConstantsAnywhere) {
  EXPECT_EQ(verify(core_of("core f\nclock base\nclock c2 = base on %0\nclock c3 = c2 on %4\n"
                           "%0: bool = input 0 c\n%1: i32 on c2 = input 1 x\n%2: bool = const T\n%3: bool = const F\n"
                           "%4: bool on c2 = fby %2 %3\n%5: i32 on c3 = when %4 %1\n%6: i32 on c2 = fby %5 %1\n"
                           "%7: i32 = const 3\n%8: i32 = merge %0 %6 %7\n%9: i32 on never = when %3 %8\n"
                           "input c = %0\ninput x = %1\noutput o = %8\noutput p = %9\n")),
            "");
}

}  // namespace
}  // namespace rml
