// Checks Philox with published vectors, and properties of the draws: independence of instances
// and cycles, prefixes, ranges, moments, orthogonality.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "runtime/kernels/random.h"
#include "tests/operators/apply.h"

namespace rml {

namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  Block out;
  rml_philox4x32_10(counter.data(), key.data(), out.data());
  return out;
}

// The known answers of Random123, tests/kat_vectors, "philox4x32 10".
TEST(Random, philox_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Tensor draw(std::string_view name, Shape shape, DType dtype, EvaluationContext context, std::int64_t cycle,
            AttributeArguments more = {}) {
  more["shape"] = vector_attribute(shape);
  return value_of(apply_row(operators()[operators().require(name)], {}, more, dtype, context, cycle));
}

TEST(Random, draws_depend_on_seed_key_and_cycle_only) {
  const Tensor x = draw("normal", {8}, DType::f64, {1, 2}, 3);
  EXPECT_EQ(x, draw("normal", {8}, DType::f64, {1, 2}, 3));
  EXPECT_NE(x, draw("normal", {8}, DType::f64, {2, 2}, 3));
  EXPECT_NE(x, draw("normal", {8}, DType::f64, {1, 3}, 3));
  EXPECT_NE(x, draw("normal", {8}, DType::f64, {1, 2}, 4));
  const Tensor shorter = draw("normal", {5}, DType::f64, {1, 2}, 3);
  EXPECT_EQ(std::memcmp(shorter.data(), x.data(), shorter.bytes()), 0);
}

TEST(Random, uniform_is_half_open) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Tensor x =
        draw("uniform", {4000}, dtype, {7, 7}, 0,
             {{"low", number_attribute_value(1)}, {"high", number_attribute_value(std::nextafter(1.0f, 2.0f))}});
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const double u = dtype == DType::f32 ? double(x.as<float>()[i]) : x.as<double>()[i];
      ASSERT_GE(u, 1);
      ASSERT_LT(u, double(std::nextafter(1.0f, 2.0f)));
    }
  }
}

TEST(Random, moments) {
  constexpr std::int64_t n = 200000;
  const Tensor x = draw("normal", {n}, DType::f32, {5, 6}, 7);
  double mean = 0, square = 0, fourth = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = x.as<float>()[i];
    mean += v / n;
    square += v * v / n;
    fourth += v * v * v * v / n;
  }
  EXPECT_NEAR(mean, 0, 0.01);
  EXPECT_NEAR(square, 1, 0.015);
  EXPECT_NEAR(fourth, 3, 0.1);
}

TEST(Random, orthogonal_is_orthonormal) {
  for (const Shape& shape : {Shape{16, 16}, Shape{7, 40}, Shape{40, 7}, Shape{6, 2, 3}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Tensor q = draw("orthogonal", shape, dtype, {3, 4}, 0);
      const std::int64_t rows = shape[0], columns = q.elements() / rows;
      const bool wide = rows <= columns;
      const auto at = [&](std::int64_t vector, std::int64_t i) {
        const std::int64_t k = wide ? vector * columns + i : i * columns + vector;
        return dtype == DType::f32 ? double(q.as<float>()[k]) : q.as<double>()[k];
      };
      for (std::int64_t a = 0; a < std::min(rows, columns); ++a) {
        for (std::int64_t b = 0; b <= a; ++b) {
          double sum = 0;
          for (std::int64_t i = 0; i < std::max(rows, columns); ++i) sum += at(a, i) * at(b, i);
          ASSERT_NEAR(sum, a == b ? 1 : 0, dtype == DType::f32 ? 1e-6 : 1e-14);
        }
      }
    }
  }
}

struct Moments {
  double mean = 0, variance = 0, kurtosis = 0, largest = 0;
  explicit Moments(const Tensor& x) {
    const auto n = static_cast<double>(x.elements());
    const auto at = [&](std::int64_t i) {
      return x.dtype() == DType::f32 ? double(x.as<float>()[i]) : x.as<double>()[i];
    };
    for (std::int64_t i = 0; i < x.elements(); ++i) mean += at(i) / n;
    double fourth = 0;
    for (std::int64_t i = 0; i < x.elements(); ++i) {
      const double d = at(i) - mean;
      variance += d * d / n;
      fourth += d * d * d * d / n;
      largest = std::max(largest, std::fabs(at(i)));
    }
    kurtosis = fourth / (variance * variance);
  }
};

// A kurtosis of 1.8 identifies a uniform distribution, 3 a normal one.
TEST(Random, glorot_uniform_of_f32_is_uniform_and_not_normal) {
  for (const std::string_view name : {"glorot_uniform", "he_uniform", "lecun_uniform"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Moments m(draw(name, {300, 200}, dtype, {5, 6}, 7));
      const double limit =
          name == "glorot_uniform" ? std::sqrt(6.0 / 500) : std::sqrt((name[0] == 'h' ? 6.0 : 3.0) / 200);
      EXPECT_NEAR(m.kurtosis, 1.8, 0.05) << name;
      EXPECT_LE(m.largest, limit) << name;
      EXPECT_NEAR(m.variance, limit * limit / 3, 0.03 * limit * limit) << name;
    }
  }
}

TEST(Random, he_normal_exists_in_f32_as_in_f64) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::pair<std::string_view, double> rows[] = {
        {"he_normal", 2.0 / 200}, {"lecun_normal", 1.0 / 200}, {"glorot_normal", 2.0 / 500}};
    for (const auto& [name, variance] : rows) {
      const Moments m(draw(name, {300, 200}, dtype, {5, 6}, 7));
      EXPECT_NEAR(m.kurtosis, 3, 0.1) << name;
      EXPECT_NEAR(m.variance / variance, 1, 0.03) << name;
    }
  }
}

TEST(Random, initialisers_can_be_reproduced_from_a_seed) {
  for (const std::string_view name :
       {"uniform", "normal", "bernoulli", "truncated_normal", "glorot_uniform", "glorot_normal", "he_uniform",
        "he_normal", "lecun_uniform", "lecun_normal", "orthogonal"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      EXPECT_EQ(draw(name, {40, 3}, dtype, {1, 2}, 3), draw(name, {40, 3}, dtype, {1, 2}, 3)) << name;
      EXPECT_NE(draw(name, {40, 3}, dtype, {1, 2}, 3), draw(name, {40, 3}, dtype, {9, 2}, 3)) << name;
    }
  }
}

TEST(Random, truncated_normal_is_within_two_deviations) {
  const Moments m(draw("truncated_normal", {200000}, DType::f32, {5, 6}, 7));
  EXPECT_LE(m.largest, 2);
  EXPECT_NEAR(m.mean, 0, 0.01);
  EXPECT_NEAR(m.variance, 0.7737, 0.01);  // 1 - 4 φ(2) / (2 Φ(2) - 1)
}

TEST(Random, bernoulli_is_certain_at_0_and_1) {
  const auto with = [](double p) {
    return Moments(draw("bernoulli", {50000}, DType::f64, {5, 6}, 7, {{"p", number_attribute_value(p)}}));
  };
  EXPECT_EQ(with(0).largest, 0);
  EXPECT_NEAR(with(1).mean, 1, 1e-9);
  EXPECT_NEAR(with(0.3).mean, 0.3, 0.01);
}

}  // namespace

}  // namespace rml
