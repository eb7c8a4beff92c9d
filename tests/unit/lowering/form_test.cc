// The texts of schedules and steps: accepted texts, and the places of errors. tests/forms tests
// with every program of the tree that the text of a form is complete.
#include <gtest/gtest.h>

#include "lowering/schedule/schedule_text.h"
#include "lowering/text/steps_text.h"

namespace rml {
namespace {

const std::string core_lines =
    "core main\n"
    "clock base\n"
    "clock c2 = base on %0\n"
    "%0: bool = input 0                      c\n"
    "%1: f32 = input 1                       x\n"
    "%2: f32 = const 1\n"
    "%3: f32 = add %1 %2                     y\n"
    "%4: f32 = post %3\n"
    "%5: f32 on c2 = when %0 %1\n"
    "%6: f32[6] = const all 0\n"
    "%7: f32 = fby %2 %3\n"
    "input c = %0\n"
    "input x = %1\n"
    "output y = %3\n"
    "end\n";

template <class Read>
std::string fault_of(Read read, const std::string& text) {
  TextFault fault;
  const auto value = read(text, fault);
  EXPECT_EQ(value.has_value(), fault.message.empty()) << text;
  return value ? "" : to_string(fault, text);
}

std::string schedule_fault(const std::string& lines) {
  return fault_of(read_schedule, "form schedule 1\n" + core_lines + lines);
}

TEST(ScheduleText, IsRead) {
  const std::string text = "form schedule 1\n" + core_lines +
                           "source %4 = %3 + 1\n"
                           "delayed %7\n"
                           "unit 0 forward on base\n"
                           "  reads %1 needed %0\n"
                           "  value %3 = add %1 %2\n"
                           "unit 1 segmented on base\n"
                           "  reads %0\n"
                           "  value %7 = fby %2 %3\n"
                           "  ends %0\n"
                           "  cut not %0\n"
                           "  only_at_cut not %0\n"
                           "  awaits %4 where %0 where never not %0\n"
                           "  sweep forward\n"
                           "    %7 = fby %2 %3 at first single\n"
                           "  sweep backward\n"
                           "    %7 = fby %2 %3\n"
                           "  idle %5 as %2\n"
                           "unit_of %5 = 1\n";
  TextFault fault;
  const auto s = read_schedule(text, fault);
  ASSERT_TRUE(s) << to_string(fault, text);
  EXPECT_EQ(schedule_text(*s), text);
  EXPECT_EQ(s->sources[4].value, ValueId{3});
  EXPECT_EQ(s->sources[4].skip, 1u);
  EXPECT_TRUE(s->is_delayed(ValueId{7}));
  EXPECT_EQ(s->unit_of,
            (std::vector<std::uint32_t>{UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, UINT32_MAX, 1, UINT32_MAX, 1}));
  const ScheduledUnit& unit = s->units[1];
  EXPECT_EQ(unit.cut, ValueId{0});
  EXPECT_EQ(unit.plan.cut, (Literal{ValueId{0}, false}));
  ASSERT_EQ(unit.plan.awaiting.size(), 1u);
  EXPECT_TRUE(unit.plan.awaiting[0].demands[1].never);
  EXPECT_EQ(unit.plan.sweeps[0].items[0].classes, first_instant | single_instant);
  EXPECT_TRUE(unit.plan.sweeps[1].backward);
  EXPECT_EQ(unit.plan.sweeps[1].items[0].classes, any_instant);
}

TEST(ScheduleText, FaultsNameThePlace) {
  EXPECT_EQ(fault_of(read_schedule, ""), "line 1, column 1: expected 'form schedule', found the end of the line");
  EXPECT_EQ(fault_of(read_schedule, "form steps 1\n"), "line 1, column 6: expected 'schedule', found 'steps 1'");
  EXPECT_EQ(fault_of(read_schedule, "form schedule 2\n"),
            "line 1, column 15: version 1 of the form schedule is expected");
  EXPECT_EQ(fault_of(read_schedule, "form schedule 1\ncore f\n%0: i32 = add %0 %1\nend\n"),
            "line 3, column 1: %0: an operand is out of range");
  EXPECT_EQ(fault_of(read_schedule, "form schedule 1\ncore f\n"), "line 3, column 1: a core lacks its `end`");
  const std::pair<const char*, const char*> cases[] = {
      {"foo\n", "line 17, column 1: expected a line of a schedule, found 'foo'"},
      {"unit 1 forward on base\n", "line 17, column 6: units are numbered in order: expected 0"},
      {"unit 0 forward on c3\n", "line 17, column 19: there is no clock c3"},
      {"unit 0 forward on base\n  value %8\n", "line 18, column 9: there is no value %8"},
      {"unit 0 forward on base\n  value %3 = add %2 %1\n", "line 18, column 14: the core has %3 = add %1 %2"},
      {"unit 0 forward on base\n  value %3\n  value %3\n", "line 19, column 9: %3 belongs to unit 0 already"},
      {"unit 0 forward on base\n  cut %0\n", "line 18, column 3: expected a line of a unit, found 'cut %0'"},
      {"unit 0 segmented on base\n", "line 17, column 1: a segmented unit needs a cut"},
      {"unit 0 segmented on base\n  cut %0\n", "line 17, column 1: a segmented unit needs a sweep"},
      {"source %4 = %3 + 900\n", "line 17, column 18: the core has fewer values that look ahead"},
      {"unit_of %3 = 0\n", "line 17, column 14: there is no unit 0"},
  };
  for (const auto& [lines, expected] : cases) EXPECT_EQ(schedule_fault(lines), expected);
}

std::string steps_fault(const std::string& lines) {
  return fault_of(read_steps, "form steps 1\n" + core_lines + lines);
}

TEST(StepsText, IsRead) {
  const std::string text = "form steps 1\n" + core_lines +
                           "network\n"
                           "cell 0 f32 = 1 of %7 \"memory\"\n"
                           "cell 1 f32 local\n"
                           "cell 2 bool = F\n"
                           "queue 0 bool readers +0 +2 overtaken \"c\"\n"
                           "queue 1 f32 readers +0 passing first %2 of %7\n"
                           "array 0 f32 of unit 1 \"segment x\"\n"
                           "array 1 f32[6] of unit 1\n"
                           "input 0 queue 0\n"
                           "input 1 queue 1 flags 0\n"
                           "site 0 \"no \\\"way\\\"\" @1:2-3\n"
                           "site_of %3 = 0\n"
                           "cut 0 \"c\" @1:4-5\n"
                           "parameter layer.w f32 site %7 cell 0\n"
                           "inlined %3 %4\n"
                           "watch output 0 shows %3 named %3\n"
                           "watch memory %7 cell 0 queue 1\n"
                           "unit 0 forward on c2 \"first\"\n"
                           "  operand %0 = queue 0 reader 1 if %0 if not %0 needed not %0 once\n"
                           "  raw_input 1\n"
                           "  instant\n"
                           "    expect input 1 present\n"
                           "    %1 := input\n"
                           "    if not %0\n"
                           "      %3 = add %1 %2\n"
                           "    else\n"
                           "      %3 := %1\n"
                           "      if %0\n"
                           "        push queue 1 %3\n"
                           "      end\n"
                           "    end\n"
                           "    assert %0 site 0\n"
                           "    assume not cell 2 site 0\n"
                           "  end\n"
                           "unit 1 segmented on base cut 0\n"
                           "  after 0\n"
                           "  instant\n"
                           "    last := not %0\n"
                           "    if not first\n"
                           "      array 0 := %3\n"
                           "    else\n"
                           "      if last\n"
                           "        cell 1 := %3\n"
                           "      end\n"
                           "    end\n"
                           "  end\n"
                           "  sweep backward\n"
                           "  prologue\n"
                           "    array 1 := (1, 2, 3) array 0 (2, 1) times %6 (3, 1) of %6\n"
                           "    cell 1 := (1, 1, 1) %3 (1, 1) times array 0 (1, 1) of %3 onto cell 0\n"
                           "  end\n"
                           "  loop\n"
                           "    %3 := array 0\n"
                           "    %6 = const f32[6]\n"
                           "  end\n"
                           "  commit\n"
                           "    %7 := cell 0\n"
                           "    cell 0 := cell 1\n"
                           "  end\n"
                           "rows\n"
                           "  operand %7 = queue 1\n"
                           "  output 0 = operand 0\n";
  TextFault fault;
  const auto p = read_steps(text, fault);
  ASSERT_TRUE(p) << to_string(fault, text);
  EXPECT_EQ(steps_text(*p), text);
  EXPECT_EQ(p->sites[0].message, "no \"way\"");
  EXPECT_EQ(p->cells[0].initial, Tensor::scalar(DType::f32, 1.0f));
  EXPECT_EQ(p->cells[1].initial.bytes(), 0u);
  EXPECT_EQ(p->queues[0].readers, 2u);
  EXPECT_EQ(p->units[0].instant.statements.size(), 5u);
  const auto& branch = std::get<steps::Branch>(p->units[0].instant.statements[2]);
  EXPECT_FALSE(branch.test.positive);
  EXPECT_EQ(branch.else_block->statements.size(), 2u);
  EXPECT_EQ(std::get<steps::SegmentProduct>(p->units[1].sweeps[0].prologue.statements[1]).onto, CellId{0});
}

TEST(StepsText, FaultsNameThePlace) {
  const std::string unit = "unit 0 forward on base\n  instant\n";
  const std::string straight = "straight\n" + unit;
  const std::pair<std::string, const char*> cases[] = {
      {"cell 0 f32 = x\n", "line 17, column 14: 'x' is not a constant of type f32"},
      {"cell 0 f32[4294967296] = all 0\n",
       "line 17, column 30: more than 1073741824 bytes of constants with equal elements"},
      {"cell 0 f32[4294967296] = [0]\n", "line 17, column 26: '[0]' is not a constant of type f32[4294967296]"},
      {"input 2 queue 0\n", "line 17, column 7: there is no input 2"},
      {"queue 0 bool readers +0\ninput 1 queue 0\n", "line 18, column 15: this is f32, not bool"},
      {"array 0 f32 of unit 3\n", "line 17, column 21: there is no unit 3"},
      {"watch memory %9\n", "line 17, column 14: there is no value %9"},
      {"cell 0 f32\nwindow %3 in cell 0\n", "line 18, column 8: %3 moves no rows"},
      {"cell 0 f32\npack 0 of cell 0 for %3\n", "line 18, column 22: %3 is not a product that can have a pack"},
      {"cell 0 f32\npack 0 of cell 0 for\n", "line 18, column 21: expected a product, found the end of the line"},
      {unit + "    cell 0 := %3\n", "line 19, column 10: there is no cell 0"},
      {unit + "    %3 := %0\n", "line 19, column 11: this is bool, not f32"},
      {unit + "    %4 = post %3\n", "line 19, column 5: its equation is not computed, but is post %3"},
      {unit + "    if %1\n", "line 19, column 8: %1 is not a Boolean scalar"},
      {unit + "    if last\n", "line 19, column 8: this unit has no segments"},
      {unit + "    if %0\n    end\n", "line 21, column 1: a block lacks its `end`"},
      {unit + "    else\n", "line 19, column 5: `else` belongs to an `if`"},
      {unit + "    output 0 := %3\n", "line 19, column 5: only straight programs store outputs"},
      {straight + "    output 1 := %3\n", "line 20, column 12: there is no output 1"},
      {straight + "  end\nrows\n", "line 22, column 1: a straight program has one unit, forward on base, and no rows"},
      {unit + "    assert %0 site 0\n", "line 19, column 20: there is no site 0"},
      {unit + "  end\n  sweep forward\n", "line 20, column 3: expected a line of steps, found 'sweep forwar'"},
      {unit + "    %1 := input\n", "line 19, column 11: this input comes through a queue"},
      {"unit 0 segmented on base cut 0\n", "line 17, column 30: there is no cut 0"},
      {"body 0\n", "line 17, column 6: there is no external 0"},
      {"rows\n  output 0 = operand 0\n", "line 18, column 22: there is no operand 0"},
  };
  for (const auto& [lines, expected] : cases) EXPECT_EQ(steps_fault(lines), expected);
  EXPECT_EQ(fault_of(read_steps, "\n-- nothing\n"),
            "line 3, column 1: expected 'form steps', found the end of the line");
}

// Ids of missing values, in a core that has no value.
TEST(StepsText, CoreWithoutValues) {
  for (const char* line :
       {"site_of %0 = 0", "inlined %0 %0", "window %0 in cell 0", "pack 0 of cell 0 for %0", "watch memory %0",
        "cell 0 f32 of %0", "queue 0 f32 readers first %0", "unit 0 forward on base\n instant\n %0 = add %0 %0",
        "unit 0 forward on base\n instant\n %0 := input", "unit 0 forward on base\n instant\n if %0",
        "unit 0 forward on base\n operand %0 = queue 0"}) {
    const std::string fault =
        fault_of(read_steps, std::string("form steps 1\ncore f\nclock base\nend\n") + line + "\n");
    EXPECT_TRUE(fault.find("there is no value %0") != std::string::npos || fault.find("no cell 0") != std::string::npos)
        << line << ": " << fault;
  }
  for (const char* line : {"delayed %0", "unit_of %0 = none", "source %0 = %0 + 0", "unit 0 forward\n value %0",
                           "unit 0 forward\n value %0 = add %0 %0", "unit 0 forward\n reads %0"})
    EXPECT_NE(fault_of(read_schedule, std::string("form schedule 1\ncore f\nclock base\nend\n") + line + "\n")
                  .find("there is no value %0"),
              std::string::npos)
        << line;
}

// The deepest nesting that the reader accepts.
TEST(StepsText, NestedBranches) {
  std::string deep = "unit 0 forward on base\n  instant\n";
  for (int k = 0; k < 2001; ++k) deep += "if %0\n";
  EXPECT_EQ(steps_fault(deep), "line 2019, column 4: more than 2000 nested branches");
}

}  // namespace
}  // namespace rml
