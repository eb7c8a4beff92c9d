// The C interface of straight programs: NODE_step and NODE_run return the rows of the table's
// functions.
#include <gtest/gtest.h>

#include <ostream>

#include "lowering/llvm/interface/c_header.h"
#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

struct Levels {
  int optimization;
  std::uint32_t large_step;  // limit for inlining the step; 0: NODE_run calls it
};
void PrintTo(const Levels& levels, std::ostream* to) {
  *to << "O" << levels.optimization << (levels.large_step == 0 ? "_called" : "");
}
EmitOptions with(const Levels& levels) {
  EmitOptions o = options(levels.optimization);
  o.target.large_step = levels.large_step;
  return o;
}

class EmitStep : public ::testing::TestWithParam<Levels> {};
INSTANTIATE_TEST_SUITE_P(Levels, EmitStep,
                         ::testing::Values(Levels{0, 5000}, Levels{1, 5000}, Levels{2, 5000}, Levels{3, 5000},
                                           Levels{0, 0}, Levels{2, 0}));

std::unique_ptr<Jit> compiled(ProgramBuilder& b, const Levels& levels) {
  EmitOptions o = with(levels);
  o.with_c_interface = true;
  o.with_program = false;
  NotEmitted refused;
  auto module = emit(b.finish(), sources(), o, refused);
  EXPECT_NE(module, nullptr) << refused.text;
  std::string error;
  if (module == nullptr) return nullptr;
  auto jit = Jit::create(std::move(module), links(), error);
  EXPECT_NE(jit, nullptr) << error;
  return jit;
}

template <class F>
F* symbol(Jit& jit, const char* name) {
  std::string error;
  void* address = jit.symbol(name, error);
  EXPECT_NE(address, nullptr) << error;
  return reinterpret_cast<F*>(address);
}

// s = 10 fby (s + x): nothing can fail, so the state is one integer and steps return void.
TEST_P(EmitStep, StepAndRun) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::i32), s = b.value(core::Fby{}, DType::i32);
  const ValueId next = b.apply("add", {s, x}, DType::i32);
  b.output("int", s);
  const CellId cell = b.cell(Tensor::scalar(DType::i32, std::int32_t{10}));
  add_all(b.block(), steps::LoadInput{x}, steps::LoadCell{s, cell}, steps::Compute{next}, steps::StoreOutput{0, s},
          steps::StoreCell{cell, next});
  const std::string header = c_header(b.finish(), options(2));
  EXPECT_NE(header.find("typedef struct f_state { uint64_t words[1]; } f_state;"), std::string::npos) << header;
  EXPECT_NE(header.find("void f_step(f_state* state, int32_t x, int32_t* int_);"), std::string::npos);
  EXPECT_NE(header.find("void f_run(f_state* state, int64_t n, const int32_t* x, int32_t* int_);"), std::string::npos);
  auto jit = compiled(b, GetParam());
  ASSERT_NE(jit, nullptr);
  auto* init = symbol<void(void*)>(*jit, "f_init");
  auto* reset = symbol<void(void*)>(*jit, "f_reset");
  auto* step = symbol<void(void*, std::int32_t, std::int32_t*)>(*jit, "f_step");
  auto* run = symbol<void(void*, std::int64_t, const std::int32_t*, std::int32_t*)>(*jit, "f_run");
  std::uint64_t state[2] = {0, 0xabcdef};
  init(state);
  std::int32_t y = 0;
  step(state, 5, &y);
  EXPECT_EQ(y, 10);
  step(state, 7, &y);
  EXPECT_EQ(y, 15);
  const std::int32_t in[] = {1, 2, 3};
  std::int32_t out[3];
  run(state, 3, in, out);
  EXPECT_EQ(std::vector<std::int32_t>(out, out + 3), (std::vector<std::int32_t>{22, 23, 25}));
  run(state, 0, in, out);
  step(state, 0, &y);
  EXPECT_EQ(y, 28);
  reset(state);
  step(state, 0, &y);
  EXPECT_EQ(y, 10);
  EXPECT_EQ(state[1], 0xabcdefu);
}

// Temporary memory for large tensors is part of the state, whose size the header declares.
TEST_P(EmitStep, SizeOfTheState) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::f32, {300});
  const ValueId two = b.real(2);
  const ValueId doubled = b.apply("mul", {x, two}, DType::f32, {300});
  const ValueId y = b.apply("sum", {doubled}, DType::f32, {}, {all(), integers({0})});
  b.output("y", y);
  add_all(b.block(), steps::LoadInput{x}, steps::Compute{doubled}, steps::Compute{y}, steps::StoreOutput{0, y});
  EmitOptions o = with(GetParam());
  o.with_c_interface = true;
  const std::string header = c_header(b.finish(), o);
  const std::size_t words = std::stoul(header.substr(header.find("words[") + 6));
  EXPECT_GE(words, 150u);
  std::string error;
  NotEmitted refused;
  auto jit = Jit::create(emit(b.finish(), sources(), o, refused), links(), error);
  ASSERT_NE(jit, nullptr) << error;
  std::vector<std::uint64_t> state(words + 1000, 0xabcdef);
  symbol<void(void*)>(*jit, "f_init")(state.data());
  const std::vector<float> in(300, 1);
  float out = 0;
  symbol<void(void*, const float*, float*)>(*jit, "f_step")(state.data(), in.data(), &out);
  EXPECT_EQ(out, 600);
  symbol<void(void*, std::int64_t, const float*, float*)>(*jit, "f_run")(state.data(), 1, in.data(), &out);
  EXPECT_EQ(out, 600);
  EXPECT_EQ(std::vector<std::uint64_t>(state.begin() + static_cast<std::ptrdiff_t>(words), state.end()),
            std::vector<std::uint64_t>(1000, 0xabcdef));
}

// o = x / d on c, with d an input on c: presence flags, a fault, a tensor state.
TEST_P(EmitStep, PresenceFaultsAndTensors) {
  ProgramBuilder b;
  const ValueId c = b.input("c", DType::boolean);
  const ClockId on_c = b.clock_on(c);
  const ValueId d = b.input("d", DType::i32, {}, on_c);
  const ValueId w = b.value(core::Fby{}, DType::i32, {3}, on_c);
  const ValueId o = b.apply("div", {w, d}, DType::i32, {3}, {}, on_c);
  const ValueId next = b.apply("add", {w, o}, DType::i32, {3}, {}, on_c);
  b.program.value_sites[o.index] = b.site("division by zero");
  b.output("o", o);
  const CellId cell = b.cell(tensor<std::int32_t>(DType::i32, {3}, {10, 20, 30}));
  steps::Branch br = branch(c);
  add_all(*br.then_block, steps::Expect{1, true}, steps::LoadInput{d}, steps::LoadCell{w, cell}, steps::Compute{o},
          steps::Compute{next}, steps::StoreOutput{0, o}, steps::StoreCell{cell, next});
  add_all(*br.else_block, steps::Expect{1, false});
  add_all(b.block(), steps::LoadInput{c}, std::move(br));
  const std::string header = c_header(b.finish(), options(2));
  EXPECT_NE(
      header.find(
          "int32_t f_step(f_state* state, uint8_t c, uint8_t d_present, int32_t d, uint8_t* o_present, int32_t* o);"),
      std::string::npos)
      << header;
  auto jit = compiled(b, GetParam());
  ASSERT_NE(jit, nullptr);
  auto* init = symbol<void(void*)>(*jit, "f_init");
  auto* step = symbol<std::int32_t(void*, std::uint8_t, std::uint8_t, std::int32_t, std::uint8_t*, std::int32_t*)>(
      *jit, "f_step");
  auto* run = symbol<std::int32_t(void*, std::int64_t, const std::uint8_t*, const std::uint8_t*, const std::int32_t*,
                                  std::uint8_t*, std::int32_t*)>(*jit, "f_run");
  std::vector<std::uint64_t> state(100);
  init(state.data());
  std::uint8_t present = 9;
  std::int32_t out[3] = {};
  EXPECT_EQ(step(state.data(), 1, 1, 5, &present, out), 0);
  EXPECT_EQ(present, 1);
  EXPECT_EQ(std::vector<std::int32_t>(out, out + 3), (std::vector<std::int32_t>{2, 4, 6}));
  EXPECT_EQ(step(state.data(), 0, 0, 0, &present, out), 0);
  EXPECT_EQ(present, 0);
  const std::uint8_t cs[] = {1, 0, 1}, flags[] = {1, 0, 1};
  const std::int32_t ds[] = {2, 0, 0};
  std::uint8_t presents[3];
  std::int32_t rows[9] = {};
  EXPECT_EQ(run(state.data(), 3, cs, flags, ds, presents, rows), RML_FAULT_DIVISION);
  EXPECT_EQ(std::vector<std::int32_t>(rows, rows + 3), (std::vector<std::int32_t>{6, 12, 18}));
  const auto& h = *reinterpret_cast<const rml_header*>(state.data());
  EXPECT_EQ(h.fault_cycle, 4);
  EXPECT_EQ(h.pushed, 4);
  EXPECT_EQ(step(state.data(), 0, 0, 0, &present, out), RML_FAULT_DIVISION);
}

}  // namespace
}  // namespace rml::testing
