// Compares the reference engine with traces that were worked out by hand.
//
// A program is core text; its inputs and expected outputs are chronograms. Rows that never came
// are `?`. Further tests cover faults, effects, histories, and memory that must not grow with the
// number of cycles.
#include "semantics/reference/interpret.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core_texts.h"
#include "runtime/base/rmlrt.h"

namespace rml {
namespace {

// Reads a core that must be well formed.
Core right_core(const std::string& text) {
  Core core = core_of(text);
  EXPECT_EQ(verify(core), "");
  return core;
}

Core golden(const std::string& name) {
  std::ifstream in(RML_TESTS "/golden/core/" + name + ".core");
  std::stringstream text;
  text << in.rdbuf();
  return right_core(text.str());
}

Chronogram inputs_of(const Core& core, const std::string& text) {
  std::vector<ChronogramPort> ports;
  for (const Port& input : core.inputs) ports.push_back({input.name, core[input.value].dtype, core[input.value].shape});
  std::string error;
  auto chronogram = read_chronogram(text, ports, error);
  EXPECT_TRUE(chronogram) << error;
  return chronogram.value_or(Chronogram{});
}

std::vector<Cell> column(const Chronogram& chronogram, std::size_t n) {
  std::vector<Cell> cells;
  for (const ChronogramRow& row : chronogram) cells.push_back(row.cells[n]);
  return cells;
}

// Returns all outputs, with rows that did not come as `?`.
std::string drain(Interpreter& interpreter, const Core& core) {
  Chronogram outputs;
  for (const Port& port : core.outputs) outputs.push_back({port.name, {}});
  while (auto row = interpreter.pop()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].cells.push_back((*row)[i]);
  }
  for (ChronogramRow& row : outputs) row.cells.resize(static_cast<std::size_t>(interpreter.pushed()));
  return print_chronogram(outputs);
}

std::string run(const Core& core, const std::string& text) {
  const Chronogram inputs = inputs_of(core, text);
  Interpreter interpreter(core, 0);
  for (std::size_t n = 0; n < inputs.front().cells.size(); ++n) {
    EXPECT_FALSE(interpreter.push(column(inputs, n)));
  }
  interpreter.finish();
  return drain(interpreter, core);
}

std::string run(const std::string& program, const std::string& inputs) { return run(right_core(program), inputs); }

// ---- traces

TEST(Interpret, Counter) {
  const Core core = golden("counter");
  Interpreter interpreter(core, 0);
  for (int n = 0; n < 5; ++n) EXPECT_FALSE(interpreter.push({}));
  EXPECT_EQ(drain(interpreter, core), "o | 0 1 2 3 4\n");
}

TEST(Interpret, Backfill) {
  EXPECT_EQ(run(golden("backfill"), "bp | F F T T F T\ni | 2 6 8 5 1 4\n"), "o | 8 8 8 5 4 4\n");
}

TEST(Interpret, RowsLeaveInCycleOrderWhenTheyAreDetermined) {
  const Core core = golden("backfill");
  const Chronogram inputs = inputs_of(core, "bp | F F T T F T\ni | 2 6 8 5 1 4\n");
  Interpreter interpreter(core, 0);
  std::vector<std::int64_t> popped;
  for (std::size_t n = 0; n < 6; ++n) {
    interpreter.push(column(inputs, n));
    while (interpreter.pop()) {
    }
    popped.push_back(interpreter.popped());
  }
  EXPECT_EQ(popped, (std::vector<std::int64_t>{0, 0, 3, 4, 4, 6}));
}

TEST(Interpret, FbyEnd) {
  EXPECT_EQ(run(golden("fby_end"), "end | F F T T F T\ninit | 1 0 9 3 5 8\ni | 2 6 8 5 1 4\n"), "o | 1 2 6 3 5 1\n");
}

TEST(Interpret, StateAndPostOnASubClockMoveOnlyWhenSampled) {
  EXPECT_EQ(run(golden("post_on_subclock"), "c | F T F F T T F\nx | . 1 . . 2 3 .\n"),
            "y | . 2 . . 3 ? ?\n"
            "z | . 7 . . 1 ? ?\n");
}

TEST(Interpret, PostIsUndeterminedAtTheLastCycle) {
  EXPECT_EQ(run("%0: i32 = input 0\n%1: i32 = post %0\ninput x = %0\noutput x = %0\noutput y = %1\n", "x | 1 2 3\n"),
            "x | 1 2 ?\n"
            "y | 2 3 ?\n");
}

TEST(Interpret, WhenMergeAndNever) {
  EXPECT_EQ(run("clock c2 = base on %0\nclock c3 = base on not %0\n"
                "%0: bool = input 0\n%1: i32 = input 1\n%2: i32 on c2 = when %0 %1\n%3: i32 on c3 = when not %0 %1\n"
                "%4: i32 on c3 = negate %3\n%5: i32 = merge %0 %2 %4\n%6: i32 = const 5\n%7: i32 = merge %0 %6 %3\n"
                "%8: bool = const F\n%9: i32 on never = when %8 %1\n"
                "input c = %0\ninput x = %1\noutput t = %2\noutput f = %3\noutput m = %5\noutput k = %7\n"
                "output n = %9\noutput five = %6\n",
                "c | T F F T\nx | 1 2 3 4\n"),
            "t    | 1  .  . 4\n"
            "f    | .  2  3 .\n"
            "m    | 1 -2 -3 4\n"
            "k    | 5  2  3 5\n"
            "n    | .  .  . .\n"
            "five | 5  5  5 5\n");
}

TEST(Interpret, MergeNeedsOnlyTheChosenBranch) {
  // The branch that is not taken is a cycle within the instant.
  EXPECT_EQ(run("clock c2 = base on %0\nclock c3 = base on not %0\n"
                "%0: bool = input 0\n%1: i32 = input 1\n%2: i32 on c2 = when %0 %1\n%3: i32 on c3 = add %3 %3\n"
                "%4: i32 = merge %0 %2 %3\ninput c = %0\ninput x = %1\noutput m = %4\n",
                "c | T T F T\nx | 1 2 3 4\n"),
            "m | 1 2 ? ?\n");
}

TEST(Interpret, WhatNeedsItselfIsUndeterminedForEver) {
  EXPECT_EQ(
      run("%0: i32 = input 0\n%1: i32 = add %0 %2\n%2: i32 = negate %1\ninput x = %0\noutput y = %1\n", "x | 1 2\n"),
      "y | ? ?\n");
  // The program is x = post (0 fby x).
  EXPECT_EQ(run("%0: i32 = input 0\n%1: i32 = const 0\n%2: i32 = fby %1 %3\n%3: i32 = post %2\n"
                "input u = %0\noutput x = %3\n",
                "u | 1 2 3\n"),
            "x | ? ? ?\n");
}

// Returns the values that keep the next row from being known, after all inputs.
std::vector<ValueId> knot(const std::string& body, const std::string& text) {
  const Core core = right_core(body);
  const Chronogram inputs = inputs_of(core, text);
  Interpreter interpreter(core, 0);
  for (std::size_t n = 0; n < inputs.front().cells.size(); ++n) EXPECT_FALSE(interpreter.push(column(inputs, n)));
  while (interpreter.pop()) {
  }
  return interpreter.knot();
}

TEST(Interpret, WhatNeedsItselfIsNamed) {
  EXPECT_EQ(
      knot("%0: i32 = input 0\n%1: i32 = add %0 %2\n%2: i32 = negate %1\ninput x = %0\noutput y = %1\n", "x | 1 2\n"),
      (std::vector<ValueId>{ValueId{1}, ValueId{2}}));
  // x = post (0 fby x) needs itself; y = u + x depends on it.
  EXPECT_EQ(knot("%0: i32 = input 0\n%1: i32 = const 0\n%2: i32 = fby %1 %3\n%3: i32 = post %2\n%4: i32 = add %0 %3\n"
                 "input u = %0\noutput x = %4\n",
                 "u | 1 2 3\n"),
            (std::vector<ValueId>{ValueId{3}, ValueId{2}}));
  // A later input may still determine the row.
  EXPECT_EQ(knot("%0: i32 = input 0\n%1: i32 = post %0\ninput u = %0\noutput x = %1\n", "u | 1 2 3\n"),
            std::vector<ValueId>{});
}

TEST(Interpret, FbyNeedsInitOnlyAtTheFirstInstant) {
  // The initial value uses the next instant only at the start: init = when start (post u).
  EXPECT_EQ(
      run("clock c2 = base on %3\n%0: i32 = input 0\n%1: bool = const T\n%2: bool = const F\n%3: bool = fby %1 %2\n"
          "%4: i32 = post %0\n%5: i32 on c2 = when %3 %4\n%6: i32 = fby %5 %0\ninput u = %0\noutput o = %6\n",
          "u | 1 2 3\n"),
      "o | 2 1 2\n");
}

TEST(Interpret, ClocksThatWaitForTheFuture) {
  // c = post b; y = x on c; n counts the instants of that clock.
  EXPECT_EQ(run("clock c2 = base on %2\n%0: bool = input 0\n%1: i32 = input 1\n%2: bool = post %0\n"
                "%3: i32 on c2 = when %2 %1\n%4: i32 = const 0\n%5: i32 = const 1\n%6: i32 on c2 = fby %4 %7\n"
                "%7: i32 on c2 = add %6 %5\ninput b = %0\ninput x = %1\noutput y = %3\noutput n = %6\n",
                "b | F T F T T F\nx | 1 2 3 4 5 6\n"),
            "y | 1 . 3 4 . ?\n"
            "n | 0 . 1 2 . ?\n");
}

TEST(Interpret, NestedBackfill) {
  // The program is o = backfill (backfill x b) a.
  EXPECT_EQ(
      run("clock c2 = base on %0\nclock c3 = base on not %0\nclock c4 = base on %1\nclock c5 = base on not %1\n"
          "%0: bool = input 0\n%1: bool = input 1\n%2: i32 = input 2\n"
          "%3: i32 on c2 = when %0 %2\n%4: i32 = post %6\n%5: i32 on c3 = when not %0 %4\n%6: i32 = merge %0 %3 %5\n"
          "%7: i32 on c4 = when %1 %6\n%8: i32 = post %10\n%9: i32 on c5 = when not %1 %8\n%10: i32 = merge %1 %7 %9\n"
          "input b = %0\ninput a = %1\ninput x = %2\noutput o = %10\n",
          "b | F F T F T F T\na | F T F F T F F\nx | 1 2 3 4 5 6 7\n"),
      "o | 3 3 5 5 5 ? ?\n");
}

// The sum of each segment, returned over the segment, then added to a parameter that is held over
// the next one: acc = sum forward; total = backfill acc end; p = fby_end(end, p0, p + total).
const char* const training = R"(core training
clock c2 = base on %0
clock c3 = base on not %0
clock c4 = base on %3
clock c5 = base on not %3
%0: bool = input 0                      end
%1: i32 = input 1                       x
%2: bool = const T
%3: bool = fby %2 %0                    first
%4: i32 = const 0
%5: i32 = fby %4 %9
%6: i32 on c5 = when not %3 %5
%7: i32 = merge %3 %4 %6
%8: i32 = const 0
%9: i32 = add %7 %1                     acc
%10: i32 on c2 = when %0 %9
%11: i32 = post %13
%12: i32 on c3 = when not %0 %11
%13: i32 = merge %0 %10 %12             total
%14: i32 = fby %8 %19                   updated
%15: i32 on c4 = when %3 %14
%16: i32 = fby %8 %18
%17: i32 on c5 = when not %3 %16
%18: i32 = merge %3 %15 %17             p
%19: i32 = add %18 %13
input end = %0
input x = %1
output p = %18
output total = %13
)";

TEST(Interpret, ParameterTrainedOncePerSegment) {
  EXPECT_EQ(run(training, "end | F F T F T T F\nx | 1 2 3 4 5 6 7\n"),
            "p     | 0 0 0 6 6 15 ?\n"
            "total | 6 6 6 9 9  6 ?\n");
}

// ---- faults and effects

TEST(Interpret, DivisionFailsEvenIfNobodyAsks) {
  const Core core = right_core(
      "%0: i32 = input 0\n%1: i32 = const 6\n%2: i32 = div %1 %0\n%3: i32 = post %0\n"
      "input x = %0\noutput x = %0\noutput y = %3\n");
  const Chronogram inputs = inputs_of(core, "x | 1 2 0 4\n");
  Interpreter interpreter(core, 0);
  EXPECT_FALSE(interpreter.push(column(inputs, 0)));
  EXPECT_FALSE(interpreter.push(column(inputs, 1)));
  const auto fault = interpreter.push(column(inputs, 2));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->fault.kind, RML_FAULT_DIVISION);
  EXPECT_EQ(fault->value, ValueId{2});
  EXPECT_EQ(fault->cycle, 2);
  EXPECT_EQ(interpreter.pushed(), 2);
  EXPECT_TRUE(interpreter.push(column(inputs, 3)));  // nothing happens, because the run is over
  EXPECT_EQ(drain(interpreter, core), "x | 1 2\ny | 2 0\n");
}

TEST(Interpret, FloatDivisionIsNoEffect) {
  EXPECT_EQ(run("%0: f32 = input 0\n%1: f32 = div %0 %0\ninput x = %0\noutput y = %1\n", "x | 2 0\n"), "y | 1 nan\n");
}

TEST(Interpret, AssertsAndWhichFaultIsFirst) {
  const Core core = right_core(
      "%0: i32 = input 0\n%1: i32 = const 0\n%2: bool = ne %0 %1\n%3: i32 = div %0 %0\n"
      "input x = %0\noutput y = %3\nassert %2 \"x is not zero\"\n");
  Interpreter interpreter(core, 0);
  const auto fault = interpreter.push(column(inputs_of(core, "x | 0\n"), 0));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->fault.kind, RML_FAULT_ASSERT);
  EXPECT_EQ(fault->assertion, 0u);
}

TEST(Interpret, IndexOutOfBounds) {
  const Core core =
      right_core("%0: i32[3] = const [5,6,7]\n%1: i32 = input 0\n%2: i32 = index %0 %1\ninput i = %1\noutput o = %2\n");
  const Chronogram inputs = inputs_of(core, "i | 2 3\n");
  Interpreter interpreter(core, 0);
  EXPECT_FALSE(interpreter.push(column(inputs, 0)));
  const auto fault = interpreter.push(column(inputs, 1));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->fault.kind, RML_FAULT_INDEX);
  EXPECT_EQ(fault->fault.value, 3);
  EXPECT_EQ(fault->fault.bound, 3);
  EXPECT_EQ(drain(interpreter, core), "o | 7\n");
}

TEST(Interpret, InputsAgainstTheirClock) {
  const Core core = golden("post_on_subclock");
  for (const auto& [text, was_present] : {std::pair("c | T F\nx | 1 2\n", 1), std::pair("c | T T\nx | 1 .\n", 0)}) {
    const Chronogram inputs = inputs_of(core, text);
    Interpreter interpreter(core, 0);
    EXPECT_FALSE(interpreter.push(column(inputs, 0)));
    const auto fault = interpreter.push(column(inputs, 1));
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->fault.kind, RML_FAULT_PRESENCE);
    EXPECT_EQ(fault->input, 1u);
    EXPECT_EQ(fault->fault.value, 1);
    EXPECT_EQ(fault->fault.bound, was_present);
    EXPECT_EQ(fault->cycle, 1);
  }
}

TEST(Interpret, PresenceIsCheckedOnceTheConditionIsKnown) {
  const Core core = right_core(
      "clock c2 = base on %1\n%0: bool = input 0\n%1: bool = post %0\n%2: i32 on c2 = input 1\n"
      "input b = %0\ninput x = %2\noutput x = %2\n");
  const Chronogram inputs = inputs_of(core, "b | F F\nx | 1 .\n");
  Interpreter interpreter(core, 0);
  EXPECT_FALSE(interpreter.push(column(inputs, 0)));
  const auto fault = interpreter.push(column(inputs, 1));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->cycle, 0);
}

TEST(Interpret, ExternalNodesAreCalledOnceAtEachInstant) {
  const Core core = right_core(
      "external 0 twice (i32) -> (i32, bool)\nclock c2 = base on %0\n"
      "%0: bool = input 0\n%1: i32 on c2 = input 1\n%2: bool on c2 = call 0 %1\n"
      "%3: i32 on c2 = result 0 of %2\n%4: bool on c2 = result 1 of %2\n"
      "input c = %0\ninput x = %1\noutput y = %3\noutput odd = %4\noutput again = %3\n");
  const Chronogram inputs = inputs_of(core, "c | T F T\nx | 3 . 4\n");
  int calls = 0;
  Interpreter interpreter(core, 0, [&](std::uint32_t k, auto arguments, std::span<Tensor> results) {
    EXPECT_EQ(k, 0u);
    ++calls;
    const std::int32_t x = *arguments[0]->template as<std::int32_t>();
    *results[0].as<std::int32_t>() = 2 * x;
    *results[1].as<std::uint8_t>() = x % 2 != 0;
  });
  for (std::size_t n = 0; n < 3; ++n) interpreter.push(column(inputs, n));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(drain(interpreter, core), "y     | 6 . 8\nodd   | T . F\nagain | 6 . 8\n");
}

TEST(Interpret, RandomDrawsDependOnSeedKeyAndCycle) {
  const auto draws = [](std::uint64_t seed, const char* key) {
    const Core core =
        right_core(std::string("%0: i64 = const 0\n%1: i64 = fby %0 %3\n%2: i64 = const 1\n%3: i64 = add %1 %2\n"
                               "%4: f64 = uniform %1 {shape=[], low=0, high=1, key=") +
                   key + "}\noutput u = %4\n");
    Interpreter interpreter(core, seed);
    interpreter.push({});
    interpreter.push({});
    return drain(interpreter, core);
  };
  EXPECT_EQ(draws(1, "0x7"), draws(1, "0x7"));
  EXPECT_NE(draws(1, "0x7"), draws(2, "0x7"));
  EXPECT_NE(draws(1, "0x7"), draws(1, "0x8"));
}

TEST(Interpret, HistoryOfWatchedValues) {
  const Core core = golden("backfill");
  const Chronogram inputs = inputs_of(core, "bp | F F T T F\ni | 2 6 8 5 1\n");
  Interpreter interpreter(core, 0);
  interpreter.watch({ValueId{2}, ValueId{4}, ValueId{5}});
  for (std::size_t n = 0; n < 5; ++n) interpreter.push(column(inputs, n));
  EXPECT_EQ(print_chronogram({{"when", interpreter.history(ValueId{2})},
                              {"wait", interpreter.history(ValueId{4})},
                              {"o", interpreter.history(ValueId{5})}}),
            "when | . . 8 5 .\nwait | 8 8 . . ?\no    | 8 8 8 5 ?\n");
  EXPECT_EQ(interpreter.at(ValueId{0}, 4).presence, Presence::present);
}

// ---- memory and depth

// Sanitizers keep freed memory and are slow, so there the tests only check that the runs end
// well.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif
constexpr std::int64_t scale = sanitized ? 20 : 1;
constexpr std::int64_t long_run = 200'000 / scale;
constexpr std::int64_t allowed_kib = sanitized ? INT64_MAX : 4096;

std::int64_t resident_kib() {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    if (word == "VmRSS:") {
      std::int64_t kib = 0;
      in >> kib;
      return kib;
    }
  }
  return 0;
}

// Pushes cycles of one Boolean and one integer input. Returns the growth of memory over the last
// 95 % of them.
std::int64_t growth_over(Interpreter& interpreter, std::int64_t cycles, std::int64_t segment) {
  std::int64_t before = 0;
  for (std::int64_t n = 0; n < cycles; ++n) {
    if (n == cycles / 20) before = resident_kib();
    const bool end = n % segment == segment - 1;
    EXPECT_FALSE(interpreter.push(
        {{Presence::present, Tensor::boolean(end)}, {Presence::present, Tensor::scalar<std::int32_t>(DType::i32, 1)}}));
    while (interpreter.pop()) {
    }
  }
  return resident_kib() - before;
}

TEST(InterpretMemory, TwoMillionCyclesOfACounter) {
  const Core core = golden("counter");
  Interpreter interpreter(core, 0);
  std::int64_t before = 0;
  std::int32_t last = 0;
  const std::int64_t cycles = 2'000'000 / scale;
  for (std::int64_t n = 0; n < cycles; ++n) {
    if (n == cycles / 20) before = resident_kib();
    interpreter.push({});
    while (const auto row = interpreter.pop()) last = *row->front().value.as<std::int32_t>();
  }
  EXPECT_EQ(last, cycles - 1);
  EXPECT_LT(resident_kib() - before, allowed_kib);
}

TEST(InterpretMemory, SegmentsThatEnd) {
  const Core core = right_core(training);
  Interpreter interpreter(core, 0);
  EXPECT_LT(growth_over(interpreter, long_run, 100), allowed_kib);
  EXPECT_EQ(interpreter.popped(), long_run);
}

TEST(InterpretMemory, StateThatIsRarelyRead) {
  // `sum` is read at `end` only, once in the whole run. Before that, nothing accumulates.
  const Core core = right_core(
      "clock c2 = base on %0\n%0: bool = input 0\n%1: i32 = input 1\n%2: i32 = const 0\n%3: i32 = fby %2 %4\n"
      "%4: i32 = add %3 %1\n%5: i32 on c2 = when %0 %4\ninput end = %0\ninput x = %1\noutput o = %5\n");
  Interpreter interpreter(core, 0);
  EXPECT_LT(growth_over(interpreter, long_run, long_run), allowed_kib);
  EXPECT_EQ(interpreter.popped(), long_run);
}

TEST(InterpretMemory, ASegmentAsLongAsTheRun) {
  // 200,000 cells wait for each other and are resolved without recursion, in linear time.
  const Core core = golden("backfill");
  Interpreter interpreter(core, 0);
  growth_over(interpreter, long_run, long_run);
  EXPECT_EQ(interpreter.popped(), long_run);
}

TEST(InterpretMemory, PostOnAClockThatIsRare) {
  const Core core = right_core(
      "clock c2 = base on %0\n%0: bool = input 0\n%1: i32 = input 1\n%2: i32 on c2 = when %0 %1\n%3: i32 on c2 = post "
      "%2\n"
      "input c = %0\ninput x = %1\noutput y = %3\n");
  Interpreter interpreter(core, 0);
  growth_over(interpreter, long_run, long_run / 4);
  EXPECT_EQ(interpreter.popped(), long_run - 1);
}

}  // namespace
}  // namespace rml
