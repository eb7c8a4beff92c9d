// Straight programs through the JIT at every optimisation level: state, clocks, faults, tensors,
// fusion, and files for other targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

class Emit : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, Emit, ::testing::Values(0, 1, 2, 3));

// o = 0 fby (o + x)
void counter(ProgramBuilder& b) {
  const ValueId x = b.input("x", DType::i32);
  const ValueId o = b.value(core::Fby{}, DType::i32);
  const ValueId u = b.apply("add", {o, x}, DType::i32);
  b.output("o", o);
  const CellId cell = b.cell(Tensor::scalar(DType::i32, std::int32_t{5}));
  add_all(b.block(), steps::LoadInput{x}, steps::LoadCell{o, cell}, steps::Compute{u}, steps::StoreOutput{0, o},
          steps::StoreCell{cell, u});
}

TEST_P(Emit, Counter) {
  ProgramBuilder b;
  counter(b);
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  std::int32_t expected = 5;
  for (std::int32_t x : {3, -4, 2147483647, 1}) {
    ASSERT_EQ(m.push({&x}), 0);
    EXPECT_EQ(m.pop_all<std::int32_t>(), std::vector<std::int32_t>{expected});
    expected = static_cast<std::int32_t>(static_cast<std::uint32_t>(expected) + static_cast<std::uint32_t>(x));
  }
  EXPECT_EQ(m.header().pushed, 4);
  EXPECT_EQ(m.header().popped, 4);
  EXPECT_EQ(m.table->finish(m.state), 0);
  EXPECT_EQ(m.header().waiting, -1);
  EXPECT_STREQ(m.table->inputs[0].name, "x");
  EXPECT_STREQ(m.table->inputs[0].clock, "base");
  EXPECT_EQ(m.table->inputs[0].elements, 1u);
}

// h = merge c x (0 fby h), with x on c; o = h when c, in a branch of its own.
TEST_P(Emit, HoldOnAClock) {
  ProgramBuilder b;
  const ValueId c = b.input("c", DType::boolean);
  const ClockId on_c = b.clock_on(c);
  const ValueId x = b.input("x", DType::f32, {}, on_c);
  const ValueId previous = b.value(core::Fby{}, DType::f32);
  const ValueId h = b.value(core::Merge{}, DType::f32);
  const ValueId o = b.value(core::When{}, DType::f32, {}, on_c);
  b.output("h", h);
  b.output("o", o);
  const CellId cell = b.cell(Tensor::scalar(DType::f32, 0.5f));
  steps::Branch br = branch(c);
  add_all(*br.then_block, steps::Expect{1, true}, steps::LoadInput{x}, steps::Copy{h, x}, steps::Copy{o, h},
          steps::StoreOutput{1, o});
  add_all(*br.else_block, steps::Expect{1, false}, steps::LoadCell{previous, cell}, steps::Copy{h, previous});
  add_all(b.block(), steps::LoadInput{c}, std::move(br), steps::StoreOutput{0, h}, steps::StoreCell{cell, h});
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  EXPECT_STREQ(m.table->inputs[1].clock, "base on c");
  const auto cycle = [&](bool present, float value, bool flag) {
    const std::uint8_t condition = present;
    const std::int32_t code = m.push({&condition, flag ? &value : nullptr}, {1, flag});
    float held = -1, out = -1;
    void* rows[] = {&held, &out};
    std::uint8_t there[2];
    if (code != 0) return std::vector<float>{static_cast<float>(code)};
    EXPECT_EQ(m.table->pop(m.state, rows, there), 1);
    EXPECT_EQ(m.table->pop(m.state, rows, there), 0);
    return std::vector<float>{held, there[1] != 0 ? out : -9};
  };
  EXPECT_EQ(cycle(false, 0, false), (std::vector<float>{0.5f, -9}));
  EXPECT_EQ(cycle(true, 3, true), (std::vector<float>{3, 3}));
  EXPECT_EQ(cycle(false, 0, false), (std::vector<float>{3, -9}));
  EXPECT_EQ(cycle(false, 4, true), (std::vector<float>{RML_FAULT_PRESENCE}));
  EXPECT_EQ(m.header().value, 1);
  EXPECT_EQ(m.header().bound, 1);
  EXPECT_EQ(m.header().fault_cycle, 3);
  EXPECT_EQ(m.header().pushed, 3);
  EXPECT_EQ(cycle(true, 4, true), (std::vector<float>{RML_FAULT_PRESENCE}));
}

TEST_P(Emit, IndexFault) {
  ProgramBuilder b;
  const ValueId t = b.constant(tensor<float>(DType::f32, {3}, {1.5f, 2.5f, 3.5f}));
  const ValueId i = b.input("i", DType::i32);
  const ValueId o = b.apply("index", {t, i}, DType::f32);
  b.output("o", o);
  b.program.value_sites[o.index] = b.site("index");
  add_all(b.block(), steps::LoadInput{i}, steps::Compute{o}, steps::StoreOutput{0, o});
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  std::int32_t at = 2;
  ASSERT_EQ(m.push({&at}), 0);
  EXPECT_EQ(m.pop_all<float>(), std::vector<float>{3.5f});
  at = -1;
  EXPECT_EQ(m.push({&at}), RML_FAULT_INDEX);
  EXPECT_EQ(m.header().value, -1);
  EXPECT_EQ(m.header().bound, 3);
  EXPECT_EQ(m.header().site, 0u);
  EXPECT_EQ(m.header().fault_cycle, 1);
  EXPECT_STREQ(m.table->sites[0].message, "index");
  EXPECT_STREQ(m.table->sites[0].file, "dir/test.rml");
  at = 0;
  EXPECT_EQ(m.push({&at}), RML_FAULT_INDEX);
  EXPECT_TRUE(m.pop_all<float>().empty());
}

TEST_P(Emit, DivisionWrapsAndFaults) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::i32), y = b.input("y", DType::i32);
  const ValueId q = b.apply("div", {x, y}, DType::i32), r = b.apply("mod", {x, y}, DType::i32);
  const ValueId both = b.apply("add", {q, r}, DType::i32);
  b.output("o", both);
  b.program.value_sites[q.index] = b.site("division by zero");
  add_all(b.block(), steps::LoadInput{x}, steps::LoadInput{y}, steps::Compute{q}, steps::Compute{r},
          steps::Compute{both}, steps::StoreOutput{0, both});
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  const auto cycle = [&](std::int32_t p, std::int32_t d) { return m.push({&p, &d}); };
  EXPECT_EQ(cycle(-7, 2), 0);
  EXPECT_EQ(m.pop_all<std::int32_t>(), std::vector<std::int32_t>{-4});
  EXPECT_EQ(cycle(INT32_MIN, -1), 0);
  EXPECT_EQ(m.pop_all<std::int32_t>(), std::vector<std::int32_t>{INT32_MIN});
  EXPECT_EQ(cycle(1, 0), RML_FAULT_DIVISION);
  EXPECT_EQ(m.header().site, 0u);
}

// Runs one cycle of a straight program with one f32 tensor as input and one as output.
std::vector<float> one_cycle(ProgramBuilder& b, std::vector<float> in, std::size_t out_elements, int level,
                             bool strict = false) {
  EmitOptions how = options(level);
  how.target.strict_math = strict;
  const Machine m(b.finish(), how);
  EXPECT_EQ(m.error, "");
  if (!m.error.empty()) return {};
  EXPECT_EQ(m.push({in.data()}), 0);
  std::vector<float> out(out_elements, -77);
  void* rows[] = {out.data()};
  std::uint8_t present[1];
  EXPECT_EQ(m.table->pop(m.state, rows, present), 1);
  return out;
}

std::vector<float> ramp(std::size_t n, float scale = 0.37f) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<float>(i + 1) * scale) * 3;
  return x;
}

// Returns the value by the operator's own kernel.
std::vector<float> evaluated(const ProgramBuilder& b, ValueId v, std::vector<Tensor> operands) {
  const auto& apply = std::get<core::Apply>((*b.core)[v].rhs);
  std::vector<DType> dtypes;
  std::vector<Shape> shapes;
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : operands) dtypes.push_back(t.dtype()), shapes.push_back(t.shape()), pointers.push_back(&t);
  Tensor result((*b.core)[v].dtype, (*b.core)[v].shape);
  const Application app{dtypes, shapes, apply.attributes, result.dtype()};
  operators()[apply.op].evaluate(app, {}, pointers, result);
  return std::vector<float>(result.as<float>(), result.as<float>() + result.elements());
}

void unary_program(ProgramBuilder& b, ValueId x, ValueId y) {
  b.output("y", y);
  add_all(b.block(), steps::LoadInput{x}, steps::Compute{y}, steps::StoreOutput{0, y});
}

TEST_P(Emit, MatrixProducts) {
  struct Case {
    Shape a, b, c;
  };
  const Case cases[] = {{{4, 4}, {4, 4}, {4, 4}},     {{7, 19}, {19, 37}, {7, 37}},   {{33, 40}, {40}, {33}},
                        {{40}, {40, 21}, {21}},       {{2, 5, 3}, {3, 4}, {2, 5, 4}}, {{17}, {17}, {}},
                        {{3, 1}, {1, 50}, {3, 50}},   {{3, 21}, {21}, {3}},           {{2, 5, 70}, {70, 3}, {2, 5, 3}},
                        {{9, 700}, {700, 5}, {9, 5}}, {{1, 9}, {9, 70}, {1, 70}},     {{70, 9}, {9, 70}, {70, 70}}};
  for (const Case& c : cases) {
    const std::vector<float> left = ramp(static_cast<std::size_t>(*element_count(c.a))),
                             right = ramp(static_cast<std::size_t>(*element_count(c.b)), 0.71f);
    for (const bool strict : {true, false}) {
      ProgramBuilder b;
      const ValueId x = b.input("x", DType::f32, c.a);
      const ValueId w = b.constant(tensor<float>(DType::f32, c.b, right));
      const ValueId y = b.apply("matmul", {x, w}, DType::f32, c.c);
      unary_program(b, x, y);
      const auto actual = one_cycle(b, left, static_cast<std::size_t>(*element_count(c.c)), GetParam(), strict);
      const auto expected =
          evaluated(b, y, {tensor<float>(DType::f32, c.a, left), tensor<float>(DType::f32, c.b, right)});
      if (strict) {
        EXPECT_EQ(actual, expected) << to_string(c.a) << to_string(c.b);
      }
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(actual[i], expected[i], 1e-4) << to_string(c.a) << to_string(c.b) << " at " << i;
    }
  }
}

TEST_P(Emit, StructureAndReductions) {
  struct Case {
    std::string op;
    Shape x, y;
    std::vector<Attribute> attributes;
  };
  const Attribute no = integers({0}), yes = integers({1});
  const std::vector<Case> cases = {
      {"transpose", {3, 40}, {40, 3}, {all(), no}},
      {"transpose", {2, 3, 4}, {3, 4, 2}, {integers({1, 2, 0}), no}},
      {"reshape", {6, 20}, {40, 3}, {integers({40, 3})}},
      {"reshape", {2, 3}, {6}, {integers({6})}},
      {"slice", {10, 9}, {3, 8}, {integers({1, 1}), integers({9, 9}), integers({3, 1})}},
      {"place_slice", {3, 8}, {10, 9}, {integers({10, 9}), integers({1, 1}), integers({9, 9}), integers({3, 1})}},
      {"broadcast_to", {3, 1}, {2, 3, 7}, {integers({2, 3, 7})}},
      {"sum", {5, 40}, {}, {all(), no}},
      {"sum", {5, 40}, {40}, {integers({0}), no}},
      {"sum", {5, 40}, {5}, {integers({1}), no}},
      {"mean", {5, 4, 6}, {5, 1, 6}, {integers({1}), yes}},
      {"max", {5, 40}, {5}, {integers({-1}), no}},
      {"min", {4}, {}, {all(), no}},
      {"sum_to", {5, 40}, {40}, {integers({40})}},
      {"sigmoid", {100}, {100}, {}},
      {"tanh", {3}, {3}, {}},
      {"round", {100}, {100}, {}},
      {"sign", {9}, {9}, {}},
      {"relu", {90}, {90}, {}},
      {"exp", {}, {}, {}},
  };
  for (const Case& c : cases) {
    ProgramBuilder b;
    const std::vector<float> in = ramp(static_cast<std::size_t>(*element_count(c.x)));
    const ValueId x = b.input("x", DType::f32, c.x);
    const ValueId y = b.apply(c.op, {x}, DType::f32, c.y, c.attributes);
    unary_program(b, x, y);
    EXPECT_EQ(one_cycle(b, in, static_cast<std::size_t>(*element_count(c.y)), GetParam(), true),
              evaluated(b, y, {tensor<float>(DType::f32, c.x, in)}))
        << c.op << to_string(c.x);
  }
}

// Extrema of many numbers are computed in vector lanes. Tests whole blocks and remainders, with
// NaN and infinity in each.
TEST_P(Emit, ExtremaInLanes) {
  for (const bool largest : {false, true}) {
    for (const std::int64_t n : {31, 32, 33, 63, 100, 257}) {
      constexpr std::int64_t rows = 5;
      std::vector<float> in, expected;
      for (std::int64_t k = 0; k < rows * n; ++k) in.push_back(static_cast<float>(k * 37 % 101) - 50.0f);
      const auto at = [&](std::int64_t row, std::int64_t k) -> float& {
        return in[static_cast<std::size_t>(row * n + k)];
      };
      at(1, n - 1) = at(2, n / 3) = largest ? 500.0f : -500.0f;
      at(3, 0) = std::numeric_limits<float>::infinity();
      at(4, n - 1) = -std::numeric_limits<float>::infinity();
      for (std::int64_t row = 0; row < rows; ++row) {
        float best = at(row, 0);
        for (std::int64_t k = 1; k < n; ++k) best = largest ? std::max(best, at(row, k)) : std::min(best, at(row, k));
        expected.push_back(best);
      }
      const auto found = [&] {
        ProgramBuilder b;
        const ValueId x = b.input("x", DType::f32, {rows, n});
        const ValueId y = b.apply(largest ? "max" : "min", {x}, DType::f32, {rows}, {integers({1}), integers({0})});
        unary_program(b, x, y);
        return one_cycle(b, in, rows, GetParam(), false);
      };
      EXPECT_EQ(found(), expected) << n;
      for (const std::int64_t place : {std::int64_t{0}, n / 2, n - 1}) {
        const float before = std::exchange(at(2, place), std::nanf(""));
        const std::vector<float> with_nan = found();
        at(2, place) = before;
        EXPECT_TRUE(std::isnan(with_nan[2])) << n;
        for (const std::size_t row : {0, 1, 3, 4}) EXPECT_EQ(with_nan[row], expected[row]) << n;
      }
    }
  }
}

// y = sum((x * s + w) * x, axis 1), fused into one loop; w broadcasts.
TEST_P(Emit, FusedReduction) {
  ProgramBuilder b;
  const std::size_t rows = 6, columns = 50;
  const std::vector<float> in = ramp(rows * columns), weights = ramp(columns, 0.2f);
  const ValueId x = b.input("x", DType::f32, {6, 50});
  const ValueId s = b.real(0.25f), w = b.constant(tensor<float>(DType::f32, {50}, weights));
  const ValueId xs = b.apply("mul", {x, s}, DType::f32, {6, 50});
  const ValueId sum = b.apply("add", {xs, w}, DType::f32, {6, 50});
  const ValueId product = b.apply("mul", {sum, x}, DType::f32, {6, 50});
  const ValueId y = b.apply("sum", {product}, DType::f32, {6}, {integers({1}), integers({0})});
  for (const ValueId v : {xs, sum, product}) b.program.inlined[v.index] = true;
  b.output("y", y);
  add_all(b.block(), steps::LoadInput{x}, steps::Compute{xs}, steps::Compute{sum}, steps::Compute{product},
          steps::Compute{y}, steps::StoreOutput{0, y});
  std::vector<float> expected(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const float scaled = in[i * columns + j] * 0.25f;
      const float term = (scaled + weights[j]) * in[i * columns + j];
      expected[i] = j == 0 ? term : expected[i] + term;
    }
  }
  EXPECT_EQ(one_cycle(b, in, rows, GetParam(), true), expected);
}

// Two tensors exchange their values: a store must not change a value that was loaded before it.
TEST_P(Emit, SwappedTensors) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::f32, {40});
  const ValueId p = b.value(core::Fby{}, DType::f32, {40}), q = b.value(core::Fby{}, DType::f32, {40});
  const ValueId y = b.apply("sub", {p, x}, DType::f32, {40});
  const CellId first = b.cell(tensor<float>(DType::f32, {40}, std::vector<float>(40, 1.0f)));
  const CellId second = b.cell(tensor<float>(DType::f32, {40}, std::vector<float>(40, 2.0f)));
  b.output("y", y);
  add_all(b.block(), steps::LoadInput{x}, steps::LoadCell{p, first}, steps::LoadCell{q, second}, steps::Compute{y},
          steps::StoreOutput{0, y}, steps::StoreCell{first, q}, steps::StoreCell{second, p});
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  const std::vector<float> zeros(40, 0.0f);
  for (const float expected : {1.0f, 2.0f, 1.0f}) {
    ASSERT_EQ(m.push({zeros.data()}), 0);
    std::vector<float> out(40);
    void* rows[] = {out.data()};
    std::uint8_t present[1];
    ASSERT_EQ(m.table->pop(m.state, rows, present), 1);
    EXPECT_EQ(out, std::vector<float>(40, expected));
  }
}

TEST(EmitFiles, ObjectsForOtherTargets) {
  for (const char* triple : {"x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "riscv64-unknown-linux-gnu",
                             "riscv32-unknown-elf", "armv7-unknown-linux-gnueabihf", "thumbv7em-none-eabi"}) {
    ProgramBuilder b;
    counter(b);
    EmitOptions o;
    o.target.triple = triple;
    o.with_c_interface = true;
    o.program_name = "f";
    NotEmitted error;
    auto module = emit(b.finish(), sources(), o, error);
    ASSERT_NE(module, nullptr) << error.text;
    const std::string object = generate(*module, FileKind::object);
    EXPECT_EQ(object.substr(1, 3), "ELF") << triple;
    EXPECT_NE(generate(*module, FileKind::assembly).find("f_step"), std::string::npos);
    EXPECT_NE(generate(*module, FileKind::llvm_text).find("define"), std::string::npos);
    EXPECT_EQ(generate(*module, FileKind::bitcode).substr(0, 2), "BC");
  }
}

// y = tanh(m x): an inlined product whose user is not its epilogue is computed once.
TEST(EmitFiles, OneLoopPerProduct) {
  const auto products = [](bool with_user) {
    ProgramBuilder b;
    const ValueId m = b.input("m", DType::f32, {16, 32}), x = b.input("x", DType::f32, {32});
    const ValueId product = b.apply("matmul", {m, x}, DType::f32, {16});
    const ValueId y = b.apply("tanh", {product}, DType::f32, {16});
    b.output("y", with_user ? y : product);
    add_all(b.block(), steps::LoadInput{m}, steps::LoadInput{x}, steps::Compute{product});
    if (with_user) add_all(b.block(), steps::Compute{y});
    add_all(b.block(), steps::StoreOutput{0, with_user ? y : product});
    b.program.inlined[product.index] = with_user;
    EmitOptions o = options(0);
    NotEmitted error;
    auto module = emit(b.finish(), sources(), o, error);
    EXPECT_NE(module, nullptr) << error.text;
    const std::string text = generate(*module, FileKind::llvm_text);
    std::size_t count = 0;
    for (std::size_t at = text.find("fadd "); at != std::string::npos; at = text.find("fadd ", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(products(true), products(false));
}

// rml_program::run either contains the step in its loop or calls the functions that contain it.
TEST(EmitFiles, OneStepWhereItWorksLong) {
  const auto calls = [](std::int64_t rows) {
    ProgramBuilder b;
    const ValueId m = b.input("m", DType::f32, {rows, 64}), x = b.input("x", DType::f32, {64});
    ValueId y = b.apply("matmul", {m, x}, DType::f32, {rows});
    add_all(b.block(), steps::LoadInput{m}, steps::LoadInput{x}, steps::Compute{y});
    for (int k = 0; k < 40; ++k) {
      y = b.apply("tanh", {y}, DType::f32, {rows});
      add_all(b.block(), steps::Compute{y});
    }
    b.output("y", y);
    add_all(b.block(), steps::StoreOutput{0, y});
    EmitOptions o = options(0);
    o.with_run = true;
    NotEmitted error;
    auto module = emit(b.finish(), sources(), o, error);
    EXPECT_NE(module, nullptr) << error.text;
    return generate(*module, FileKind::llvm_text).find("call i32 @f.push(") != std::string::npos;
  };
  EXPECT_TRUE(calls(512));
  EXPECT_FALSE(calls(2));
}

TEST(EmitFiles, UnknownTargets) {
  ProgramBuilder b;
  counter(b);
  EmitOptions o;
  o.target.triple = "vax-dec-vms";
  NotEmitted error;
  EXPECT_EQ(emit(b.finish(), sources(), o, error), nullptr);
  EXPECT_NE(error.text.find("vax"), std::string::npos);
  o.target.triple.clear();
  o.target.cpu = "no-such-cpu";
  error = {};
  EXPECT_EQ(emit(b.finish(), sources(), o, error), nullptr);
  EXPECT_NE(error.text.find("no-such-cpu"), std::string::npos);
  // The meaning of `native` can be set. An unknown processor name is reported together with the
  // variable that set it.
  ::setenv("RMLC_NATIVE", "abacus", 1);
  o.target.cpu = "native";
  EXPECT_EQ(emit(b.finish(), sources(), o, error), nullptr);
  EXPECT_NE(error.text.find("'abacus' (RMLC_NATIVE)"), std::string::npos) << error.text;
  ::unsetenv("RMLC_NATIVE");
}

// An error of the compiler itself must not be reported as a mistake of the user.
TEST(EmitFiles, FaultsOfTheCompilerAreThrown) {
  ProgramBuilder b;
  const ValueId x = b.input("x", DType::i32);
  b.output("o", x);
  add_all(b.block(), steps::Expect{0, true}, steps::LoadInput{x}, steps::StoreOutput{0, x});
  NotEmitted error;
  EXPECT_THROW(emit(b.finish(), sources(), options(0), error), std::logic_error);
  EXPECT_EQ(error.text, "");
}

TEST(EmitFiles, DebugLinesOfTheSource) {
  ProgramBuilder b;
  counter(b);
  NotEmitted error;
  EmitOptions o = options(0);
  auto module = emit(b.finish(), sources(), o, error);
  ASSERT_NE(module, nullptr) << error.text;
  const std::string text = generate(*module, FileKind::llvm_text);
  EXPECT_NE(text.find("!DIFile(filename: \"test.rml\", directory: \"dir\")"), std::string::npos);
  EXPECT_NE(text.find("!DILocation(line: 1"), std::string::npos);
}

}  // namespace
}  // namespace rml::testing
