// Programs with queues and segments through the JIT: lags, sub-clocks, backward passes, growth of
// buffers, horizon, and the C interface with fixed capacity.
#include <gtest/gtest.h>

#include "lowering/llvm/interface/c_header.h"
#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

class EmitSegments : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, EmitSegments, ::testing::Values(0, 1, 2, 3));

void emit_from(ProgramBuilder& b, QueueId queue, ValueId v, std::uint32_t reader = 0) {
  b.program.emitter.operands.push_back({v, queue, reader, {}, {}});
  b.program.emitter.outputs.emplace_back(0, 0);
}

// y = if last then x else post y, where a segment ends with `last`; elements have the type
// `shape`.
struct Backfill {
  ProgramBuilder b;
  ValueId y;
  explicit Backfill(Shape shape = {}) {
    b.program.straight = false;
    const ValueId x = b.input("x", DType::i32, shape), last = b.input("last", DType::boolean);
    y = b.value(core::Merge{}, DType::i32, shape);
    const ValueId next = b.value(core::Post{}, DType::i32, shape);
    b.output("y", y);
    const QueueId xs = b.queue(DType::i32, shape), ends = b.queue(DType::boolean), ys = b.queue(DType::i32, shape);
    b.program.input_queues = {xs, ends};
    const ArrayId x_array = b.array(DType::i32, shape, 0), y_array = b.array(DType::i32, shape, 0);
    const CellId carry = b.cell(Tensor(DType::i32, shape), true);
    steps::Unit& unit = b.program.units[0];
    unit.operands = {{x, xs, 0, {}, {}}, {last, ends, 0, {}, {}}};
    unit.segmented = true;
    add_all(unit.instant, steps::MarkLast{last, true}, steps::StoreArray{x_array, x});
    steps::Branch at_last = branch_at(steps::Test::last);
    add_all(*at_last.then_block, steps::LoadArray{x, x_array}, steps::Copy{y, x});
    add_all(*at_last.else_block, steps::LoadCell{next, carry}, steps::Copy{y, next});
    steps::Sweep backward, forward;
    backward.backward = true;
    add_all(backward.body, std::move(at_last), steps::StoreArray{y_array, y}, steps::StoreCell{carry, y});
    add_all(forward.body, steps::LoadArray{y, y_array}, steps::Push{ys, y});
    unit.sweeps.push_back(std::move(backward));
    unit.sweeps.push_back(std::move(forward));
    b.program.cuts.push_back({"last", {1, 0, 4}});
    emit_from(b, ys, y);
  }
};

TEST_P(EmitSegments, Backfill) {
  Backfill p;
  const Machine m(p.b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  const auto cycle = [&](std::int32_t x, bool last) {
    const std::uint8_t flag = last;
    EXPECT_EQ(m.push({&x, &flag}), 0);
    return m.pop_all<std::int32_t>();
  };
  EXPECT_TRUE(cycle(1, false).empty());
  EXPECT_TRUE(cycle(2, false).empty());
  EXPECT_EQ(cycle(3, true), (std::vector<std::int32_t>{3, 3, 3}));
  EXPECT_EQ(cycle(4, true), std::vector<std::int32_t>{4});
  for (std::int32_t i = 0; i < 99; ++i) EXPECT_TRUE(cycle(i, false).empty());
  EXPECT_EQ(cycle(7, true), std::vector<std::int32_t>(100, 7));
  EXPECT_EQ(m.header().segments, 3);
  EXPECT_EQ(m.header().longest_segment, 100);
  EXPECT_GT(m.header().buffer_bytes, 100 * 8);
  const std::int64_t held = m.header().buffer_bytes;
  for (std::int32_t i = 0; i < 300; ++i) cycle(i, i % 60 == 59);
  EXPECT_EQ(m.header().buffer_bytes, held);
  EXPECT_EQ(m.table->finish(m.state), 0);
  EXPECT_EQ(m.header().waiting, -1);
  cycle(1, false);
  EXPECT_EQ(m.table->finish(m.state), 0);
  EXPECT_EQ(m.header().waiting, 0);
  EXPECT_STREQ(m.table->cuts[0].condition, "last");
}

TEST_P(EmitSegments, BackfillOfTensors) {
  Backfill p({70});
  const Machine m(p.b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  std::vector<std::int32_t> out(70);
  for (std::int32_t i = 0; i < 40; ++i) {
    const std::vector<std::int32_t> x(70, i);
    const std::uint8_t last = i % 20 == 19;
    ASSERT_EQ(m.push({x.data(), &last}), 0);
  }
  void* rows[] = {out.data()};
  std::uint8_t present[1];
  for (std::int32_t i = 0; i < 40; ++i) {
    ASSERT_EQ(m.table->pop(m.state, rows, present), 1);
    EXPECT_EQ(out, std::vector<std::int32_t>(70, i / 20 * 20 + 19));
  }
  EXPECT_EQ(m.table->pop(m.state, rows, present), 0);
}

TEST_P(EmitSegments, HorizonAndMemory) {
  Backfill p;
  const Machine m(p.b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  const std::int32_t x = 1;
  const std::uint8_t yes = 1, no = 0;
  m.header().horizon = 3;
  EXPECT_EQ(m.push({&x, &no}), 0);
  EXPECT_EQ(m.push({&x, &yes}), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(m.push({&x, &no}), 0);
  EXPECT_EQ(m.push({&x, &no}), RML_FAULT_HORIZON);
  EXPECT_EQ(m.header().value, 2);
  EXPECT_EQ(m.header().fault_cycle, 5);
  EXPECT_EQ(m.pop_all<std::int32_t>().size(), 2u);
  m.table->destroy(m.state);
  EXPECT_EQ(m.header().buffer_bytes, 0);
  m.start(nullptr);
  EXPECT_EQ(m.push({&x, &no}), RML_FAULT_MEMORY);
  EXPECT_GT(m.header().value, 0);
}

// y = post x by a reader that skips the first element; a second unit computes z = x + y.
TEST_P(EmitSegments, ReadersWithLookahead) {
  ProgramBuilder b;
  b.program.straight = false;
  const ValueId x = b.input("x", DType::i32), y = b.value(core::Post{}, DType::i32);
  const ValueId z = b.apply("add", {x, y}, DType::i32);
  b.output("z", z);
  const QueueId xs = b.queue(DType::i32, {}, 2, {0, 1}), zs = b.queue(DType::i32);
  b.program.input_queues = {xs};
  b.program.units[0].operands = {{x, xs, 0, {}, {}}, {y, xs, 1, {}, {}}};
  add_all(b.block(), steps::Compute{z}, steps::Push{zs, z});
  emit_from(b, zs, z);
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  for (std::int32_t i = 0; i < 50; ++i) {
    ASSERT_EQ(m.push({&i}), 0);
    EXPECT_EQ(m.pop_all<std::int32_t>(), i == 0 ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{2 * i - 1});
  }
}

// A unit takes an input on a sub-clock. Its values pass through a queue with a condition, and the
// rows have absent values.
TEST_P(EmitSegments, InputsAndOutputsOnASubClock) {
  ProgramBuilder b;
  b.program.straight = false;
  const ValueId c = b.input("c", DType::boolean);
  const ClockId on_c = b.clock_on(c);
  const ValueId x = b.input("x", DType::i32, {}, on_c);
  const ValueId two = b.integer(2);
  const ValueId y = b.apply("mul", {x, two}, DType::i32, {}, {}, on_c);
  b.output("y", y);
  const QueueId cs = b.queue(DType::boolean, {}, 2), flags = b.queue(DType::boolean), xs = b.queue(DType::i32),
                ys = b.queue(DType::i32);
  b.program.input_queues = {cs, xs};
  b.program.input_flags = {QueueId(), flags};
  steps::Unit& unit = b.program.units[0];
  unit.operands = {{c, cs, 0, {}, {}}};
  unit.raw_inputs = {1};
  steps::Branch br = branch(c);
  add_all(*br.then_block, steps::Expect{1, true}, steps::LoadInput{x}, steps::Compute{y}, steps::Push{ys, y});
  add_all(*br.else_block, steps::Expect{1, false});
  add(unit.instant, std::move(br));
  b.program.emitter.operands = {{c, cs, 1, {}, {}}, {y, ys, 0, {{c, true}}, {}}};
  b.program.emitter.outputs = {{0, 1}};
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  for (std::int32_t i = 0; i < 40; ++i) {
    const std::uint8_t there = i % 3 == 0;
    ASSERT_EQ(m.push({&there, &i}, {1, there}), 0);
    EXPECT_EQ(m.pop_all<std::int32_t>(-5), std::vector<std::int32_t>{there != 0 ? 2 * i : -5});
  }
  const std::uint8_t there = 1;
  const std::int32_t i = 0;
  EXPECT_EQ(m.push({&there, &i}, {1, 0}), RML_FAULT_PRESENCE);
  EXPECT_EQ(m.header().fault_cycle, 40);
}

// A unit without operands runs once per cycle.
TEST_P(EmitSegments, ProgramWithoutInputs) {
  ProgramBuilder b;
  b.program.straight = false;
  const ValueId n = b.value(core::Fby{}, DType::i32), one = b.integer(1);
  const ValueId next = b.apply("add", {n, one}, DType::i32);
  b.output("n", n);
  const CellId cell = b.cell(Tensor::scalar(DType::i32, std::int32_t{0}));
  const QueueId ns = b.queue(DType::i32);
  add_all(b.block(), steps::LoadCell{n, cell}, steps::Push{ns, n}, steps::Compute{next}, steps::StoreCell{cell, next});
  emit_from(b, ns, n);
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  for (std::int32_t i = 0; i < 5; ++i) {
    ASSERT_EQ(m.push({}), 0);
    EXPECT_EQ(m.pop_all<std::int32_t>(), std::vector<std::int32_t>{i});
  }
}

TEST_P(EmitSegments, FixedCapacity) {
  Backfill p;
  EmitOptions o = options(GetParam());
  o.with_c_interface = true;
  const std::string header = c_header(p.b.finish(), o);
  EXPECT_NE(header.find("int32_t f_push(f_state* state, int32_t x, uint8_t last);"), std::string::npos) << header;
  EXPECT_NE(header.find("int32_t f_pop(f_state* state, int32_t* y);"), std::string::npos);
  std::string error;
  NotEmitted refused;
  auto jit = Jit::create(emit(p.b.finish(), sources(), o, refused), links(), error);
  ASSERT_NE(jit, nullptr) << error;
  const auto init = reinterpret_cast<std::int32_t (*)(void*, void*, std::uint64_t)>(jit->symbol("f_init", error));
  const auto reset = reinterpret_cast<void (*)(void*)>(jit->symbol("f_reset", error));
  const auto push = reinterpret_cast<std::int32_t (*)(void*, std::int32_t, std::uint8_t)>(jit->symbol("f_push", error));
  const auto pop = reinterpret_cast<std::int32_t (*)(void*, std::int32_t*)>(jit->symbol("f_pop", error));
  std::vector<std::uint64_t> state(200), memory(200);
  EXPECT_EQ(init(state.data(), memory.data(), 16), RML_FAULT_MEMORY);
  // The block has 17 bytes per cycle, and 64 for each of 5 buffers and for itself.
  ASSERT_EQ(init(state.data(), memory.data(), 16 * 17 + 64 * 6), 0);
  for (int round = 0; round < 2; ++round) {
    std::int32_t y = -1;
    for (std::int32_t i = 0; i < 16; ++i) EXPECT_EQ(push(state.data(), i, i == 15), 0);
    for (std::int32_t i = 0; i < 16; ++i) EXPECT_EQ(pop(state.data(), &y), 1);
    EXPECT_EQ(y, 15);
    EXPECT_EQ(pop(state.data(), &y), 0);
    for (std::int32_t i = 0; i < 16; ++i) EXPECT_EQ(push(state.data(), i, 0), 0);
    EXPECT_EQ(push(state.data(), 1, 0), RML_FAULT_MEMORY);
    reset(state.data());
  }
}

}  // namespace
}  // namespace rml::testing
