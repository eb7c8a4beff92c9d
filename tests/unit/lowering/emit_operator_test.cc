// Every scalar operation, and the exits of generated code. With strict_math, compiled results
// equal evaluated ones to the bit.
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/lowering/program_builder.h"

namespace rml::testing {
namespace {

extern "C" void rml_test_scale(float factor, std::uint8_t negate, const float* x, float* y, std::int32_t* count) {
  for (int i = 0; i < 20; ++i) y[i] = (negate != 0 ? -factor : factor) * x[i];
  *count = 20;
}
void* find_test_function(const std::string& name) {
  return name == "rml_test_scale" ? reinterpret_cast<void*>(rml_test_scale) : nullptr;
}

class EmitOperators : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, EmitOperators, ::testing::Values(0, 2));

template <class T>
std::vector<T> interesting() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return {T(0),     T(-0.0), T(1),          T(-1),          T(0.5),         T(-2.5),  T(3.7),          T(1e10),
            T(-3e18), T(300),  L::infinity(), -L::infinity(), L::quiet_NaN(), L::max(), L::denorm_min(), T(-7.25),
            T(2.5)};
  } else {
    if constexpr (std::is_unsigned_v<T>) return {T(1), T(2), T(3), T(200), T(255), T(16), T(17)};
    return {T(1),  T(2),  T(3), T(7),  T(100), L::max(), L::min(), T(L::min() + 1), T(-1),
            T(-2), T(-5), T(5), T(64), T(11),  T(12),    T(13),    T(-100)};
  }
}

// Applies op to all pairs of special values, as one tensor operation.
template <class T>
void expect_evaluated(const std::string& op, DType dtype, DType result, std::size_t arity, int level,
                      std::vector<Attribute> attributes = {}) {
  const std::vector<T> elements = interesting<T>();
  const std::size_t n = elements.size() * elements.size();
  std::vector<Tensor> in;
  for (std::size_t k = 0; k < arity; ++k) {
    std::vector<T> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(elements[k == 0 ? i / elements.size() : i % elements.size()]);
    in.push_back(tensor<T>(dtype, {static_cast<std::int64_t>(n)}, all));
  }
  ProgramBuilder b;
  std::vector<ValueId> operands;
  std::vector<const void*> data;
  std::vector<const Tensor*> pointers;
  std::vector<DType> dtypes(arity, dtype);
  std::vector<Shape> shapes(arity, Shape{static_cast<std::int64_t>(n)});
  for (std::size_t k = 0; k < arity; ++k) {
    operands.push_back(b.input("x" + std::to_string(k), dtype, shapes[k]));
    add(b.block(), steps::LoadInput{operands.back()});
    data.push_back(in[k].data());
    pointers.push_back(&in[k]);
  }
  const ValueId y = b.apply(op, operands, result, shapes[0], attributes);
  b.output("y", y);
  add_all(b.block(), steps::Compute{y}, steps::StoreOutput{0, y});
  EmitOptions how = options(level);
  how.target.strict_math = true;
  const Machine m(b.finish(), how);
  ASSERT_EQ(m.error, "");
  Tensor expected(result, shapes[0]), computed(result, shapes[0]);
  const Application app{dtypes, shapes, attributes, result};
  ASSERT_EQ(operators()[operators().require(op)].evaluate(app, {}, pointers, expected).kind, 0);
  ASSERT_EQ(m.push(data), 0);
  void* rows[] = {computed.data()};
  std::uint8_t present[1];
  ASSERT_EQ(m.table->pop(m.state, rows, present), 1);
  // All NaNs are equal, because the sign of 0 / 0 differs between machines.
  EXPECT_EQ(to_string(computed), to_string(expected)) << op << " " << name(dtype);
}

template <class T>
void expect_numbers(DType dtype, int level) {
  for (const char* op : {"add", "sub", "mul", "div", "mod", "minimum", "maximum", "pow"})
    expect_evaluated<T>(op, dtype, dtype, 2, level);
  for (const char* op : {"eq", "ne", "lt", "le", "gt", "ge"}) expect_evaluated<T>(op, dtype, DType::boolean, 2, level);
  for (const char* op : {"negate", "abs", "sign", "relu"}) expect_evaluated<T>(op, dtype, dtype, 1, level);
  for (const DType to :
       {DType::boolean, DType::i8, DType::u8, DType::i16, DType::i32, DType::i64, DType::f32, DType::f64}) {
    Attribute attribute;
    attribute.given = true;
    attribute.dtype = to;
    expect_evaluated<T>("cast", dtype, to, 1, level, {attribute});
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (const char* op : {"floor", "ceil", "round", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid"})
      expect_evaluated<T>(op, dtype, dtype, 1, level);
  }
}

TEST_P(EmitOperators, SmallIntegers) { expect_numbers<std::int8_t>(DType::i8, GetParam()); }
TEST_P(EmitOperators, Bytes) { expect_numbers<std::uint8_t>(DType::u8, GetParam()); }
TEST_P(EmitOperators, Integers) { expect_numbers<std::int32_t>(DType::i32, GetParam()); }
TEST_P(EmitOperators, LongIntegers) { expect_numbers<std::int64_t>(DType::i64, GetParam()); }
TEST_P(EmitOperators, Floats) { expect_numbers<float>(DType::f32, GetParam()); }
TEST_P(EmitOperators, Doubles) { expect_numbers<double>(DType::f64, GetParam()); }

TEST_P(EmitOperators, ExternalNodes) {
  ProgramBuilder b;
  b.core->externals.push_back({"rml_test_scale",
                               {{DType::f32, {}}, {DType::boolean, {}}, {DType::f32, {20}}},
                               {{DType::f32, {20}}, {DType::i32, {}}},
                               {}});
  const ValueId x = b.input("x", DType::f32, {20}), factor = b.real(3), negate = b.constant(Tensor::boolean(true));
  const ValueId call = b.value(core::Call{0, {factor, negate, x}}, DType::f32);
  const ValueId y = b.value(core::Result{call, 0}, DType::f32, {20}),
                count = b.value(core::Result{call, 1}, DType::i32);
  b.output("y", y);
  b.output("count", count);
  add_all(b.block(), steps::LoadInput{x}, steps::Compute{call}, steps::StoreOutput{0, y}, steps::StoreOutput{1, count});
  const Machine m(b.finish(), options(GetParam()), find_test_function);
  ASSERT_EQ(m.error, "");
  const std::vector<float> in(20, 2);
  ASSERT_EQ(m.push({in.data()}), 0);
  std::vector<float> out(20);
  std::int32_t n = 0;
  void* rows[] = {out.data(), &n};
  std::uint8_t present[2];
  ASSERT_EQ(m.table->pop(m.state, rows, present), 1);
  EXPECT_EQ(out, std::vector<float>(20, -6));
  EXPECT_EQ(n, 20);
}

TEST_P(EmitOperators, RandomDraws) {
  ProgramBuilder b;
  const ValueId cycle = b.input("cycle", DType::i64);
  Attribute low, high;
  low.number = -1;
  high.number = 2;
  const ValueId y = b.apply("uniform", {cycle}, DType::f32, {30}, {integers({30}), low, high});
  std::get<core::Apply>((*b.core)[y].rhs).key = 99;
  b.output("y", y);
  add_all(b.block(), steps::LoadInput{cycle}, steps::Compute{y}, steps::StoreOutput{0, y});
  const Machine m(b.finish(), options(GetParam()));
  ASSERT_EQ(m.error, "");
  m.header().seed = 7;
  for (std::int64_t c : {0, 1, 5}) {
    ASSERT_EQ(m.push({&c}), 0);
    Tensor computed(DType::f32, {30}), expected(DType::f32, {30});
    void* rows[] = {computed.data()};
    std::uint8_t present[1];
    ASSERT_EQ(m.table->pop(m.state, rows, present), 1);
    const Tensor at = Tensor::scalar(DType::i64, c);
    const std::vector<const Tensor*> operands = {&at};
    const std::vector<Attribute> attributes = {integers({30}), low, high};
    const Application app{{}, {}, attributes, DType::f32};
    ASSERT_EQ(operators()[operators().require("uniform")].evaluate(app, {7, 99}, operands, expected).kind, 0);
    EXPECT_EQ(computed, expected);
  }
}

}  // namespace
}  // namespace rml::testing
