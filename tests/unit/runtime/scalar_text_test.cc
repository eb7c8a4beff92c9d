// Scalars as text: correct rounding as by strtof and strtod, round trips, 16-bit floats.
#include "runtime/stream_io/scalar_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "runtime/base/rmlrt.h"
#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

std::uint32_t f32_bits(const std::string& text) {
  float value = -1;
  EXPECT_EQ(parse_whole_scalar(RML_F32, text, &value), Parsed::ok) << text;
  return std::bit_cast<std::uint32_t>(value);
}

std::uint64_t f64_bits(const std::string& text) {
  double value = -1;
  EXPECT_EQ(parse_whole_scalar(RML_F64, text, &value), Parsed::ok) << text;
  return std::bit_cast<std::uint64_t>(value);
}

void expect_as_libc(const std::string& text) {
  EXPECT_EQ(f32_bits(text), std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr))) << text;
  EXPECT_EQ(f64_bits(text), std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr))) << text;
}

TEST(ScalarText, floats_are_correctly_rounded) {
  std::mt19937_64 random(1);
  char text[64];
  for (int k = 0; k < 200000; ++k) {
    const double mantissa = std::uniform_real_distribution<double>(-10, 10)(random);
    const int exponent = std::uniform_int_distribution<int>(-37, 37)(random);
    const int digits = std::uniform_int_distribution<int>(1, 16)(random);
    std::snprintf(text, sizeof text, "%.*fe%d", digits, mantissa, exponent);
    expect_as_libc(text);
    std::snprintf(text, sizeof text, "%.*f", digits, mantissa);
    expect_as_libc(text);
  }
}

// Decimals exactly at, just below and just above the middle of two floats.
TEST(ScalarText, ties) {
  std::mt19937_64 random(2);
  char text[128];
  for (int k = 0; k < 50000; ++k) {
    const std::uint32_t bits = 0x20000000u + static_cast<std::uint32_t>(random() % 0x40000000u);
    const double low = std::bit_cast<float>(bits);
    const double high = std::bit_cast<float>(bits + 1);
    const double middle = low + (high - low) / 2;
    std::snprintf(text, sizeof text, "%.17g", middle);
    expect_as_libc(text);
    std::snprintf(text, sizeof text, "%.40g", middle);
    expect_as_libc(text);
    std::snprintf(text, sizeof text, "%.17g", std::nextafter(middle, 0));
    expect_as_libc(text);
  }
  expect_as_libc("16777217");
  expect_as_libc("16777217.0000000000000000001");
  expect_as_libc("9007199254740993");
  expect_as_libc("1.17549435e-38");
  expect_as_libc("1.40129846e-45");
  expect_as_libc("0.000000000000000000000000000000000000000000001");
}

TEST(ScalarText, floats_round_trip_as_the_shortest_text) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 200000; ++k) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    char text[longest_scalar];
    const std::string written(text, format_scalar(RML_F32, &value, text, BoolText::word));
    EXPECT_EQ(f32_bits(written), std::bit_cast<std::uint32_t>(value)) << written;
    const double wide = std::bit_cast<double>(random());
    if (std::isnan(wide)) continue;
    const std::string longer(text, format_scalar(RML_F64, &wide, text, BoolText::word));
    EXPECT_EQ(f64_bits(longer), std::bit_cast<std::uint64_t>(wide)) << longer;
  }
}

TEST(ScalarText, every_half_round_trips) {
  for (const std::uint8_t dtype : {RML_F16, RML_BF16}) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto half = static_cast<std::uint16_t>(bits);
      const float value = dtype == RML_F16 ? float_from_f16(half) : float_from_bf16(half);
      if (std::isnan(value)) continue;
      const std::uint16_t direct = dtype == RML_F16 ? f16_from_float(value) : bf16_from_float(value);
      ASSERT_EQ(direct, half);
      char text[longest_scalar];
      const std::string written(text, format_scalar(dtype, &half, text, BoolText::word));
      std::uint16_t back = 0;
      ASSERT_EQ(parse_whole_scalar(dtype, written, &back), Parsed::ok) << written;
      ASSERT_EQ(back, half) << written;
    }
  }
}

TEST(ScalarText, halves_round_to_nearest_even) {
  EXPECT_EQ(f16_from_float(2049.0f), 0x6800);
  EXPECT_EQ(f16_from_float(2051.0f), 0x6802);
  EXPECT_EQ(f16_from_float(65519.99f), 0x7bff);
  EXPECT_EQ(f16_from_float(65520.0f), 0x7c00);
  EXPECT_EQ(f16_from_float(0x1p-25f), 0x0000);
  EXPECT_EQ(f16_from_float(0x1.8p-24f), 0x0002);
  EXPECT_EQ(f16_from_float(-0.0f), 0x8000);
  EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(bf16_from_float(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  // A decimal just above a tie rounds up, even if it is the tie after rounding to f32.
  std::uint16_t half = 0;
  EXPECT_EQ(parse_whole_scalar(RML_F16, "2049.0000000001", &half), Parsed::ok);
  EXPECT_EQ(half, 0x6801);
}

TEST(ScalarText, integers_may_be_written_as_floats) {
  std::int64_t value = 0;
  for (const char* text : {"-9223372036854775807.0", "-9223372036854775807.000"}) {
    EXPECT_EQ(parse_whole_scalar(RML_I64, text, &value), Parsed::ok) << text;
    EXPECT_EQ(value, -9223372036854775807);
  }
  EXPECT_EQ(parse_whole_scalar(RML_U8, "256.0", &value), Parsed::out_of_range);
}

TEST(ScalarText, malformed) {
  std::uint64_t value = 0;
  for (const char* text : {"", " ", "-", "+", "+-1", "--1", "1e", "1e+", "1.2.3", "0x10", "1,5", "e5", ".", "nanx"}) {
    EXPECT_EQ(parse_whole_scalar(RML_F64, text, &value), Parsed::malformed) << text;
    EXPECT_EQ(parse_whole_scalar(RML_F32, text, &value), Parsed::malformed) << text;
  }
  for (const char* text : {"", "+", "-", "1.", "1.5", "1.0e2", "1.01", "1.0a", "1e3", "+-1", "a", ".0"}) {
    EXPECT_EQ(parse_whole_scalar(RML_I32, text, &value), Parsed::malformed) << text;
    EXPECT_EQ(parse_whole_scalar(RML_U8, text, &value), Parsed::malformed) << text;
  }
  for (const char* text : {"", "2", "yes", "truee", "tr"}) {
    EXPECT_EQ(parse_whole_scalar(RML_BOOL, text, &value), Parsed::malformed) << text;
  }
}

TEST(ScalarText, not_the_locale) {
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (!std::setlocale(LC_ALL, name)) continue;
    EXPECT_EQ(f64_bits("1.5"), std::bit_cast<std::uint64_t>(1.5));
    std::setlocale(LC_ALL, "C");
    return;
  }
  GTEST_SKIP() << "no locale with a decimal comma is installed";
}

TEST(Spelling, near_names) {
  EXPECT_EQ(nearest_name("bacth_end", {"x", "batch_end", "batch"}), "batch_end");
  EXPECT_EQ(nearest_name("X", {"y", "x"}), "x");
  EXPECT_EQ(nearest_name("x", {"y", "z"}), "");
  EXPECT_EQ(nearest_name("gradient", {"loss", "x"}), "");
}

}  // namespace
}  // namespace rml::rt
