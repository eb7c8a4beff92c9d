// Conversions between float and the 16-bit formats f16 (IEEE binary16) and bf16.
//
// They only manipulate bits, round to nearest even, and keep NaNs as NaNs. g++ 12 does not have
// _Float16 in C++ on every target, and the runtime must not require a processor with F16C.
#pragma once

#include <bit>
#include <cstdint>

namespace rml::rt {

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t bf16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float float_from_f16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

inline std::uint16_t f16_from_float(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  // Numbers from 65520 on become infinite.
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Below the smallest normal number, 2^-14: adding 0.5 leaves multiples of 2^-24 in the
    // fraction, correctly rounded by the addition.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

// Converts a double to a float whose last bit is set if the conversion is inexact (round to odd).
// Rounding the result once more, to fewer digits, is then the same as rounding the double.
inline float float_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (back == value || value != value || (bits & 1u) != 0) return nearest;
  const bool above = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  return std::bit_cast<float>(above ? bits - 1 : bits + 1);
}

inline std::uint16_t f16_from_double(double value) { return f16_from_float(float_to_odd(value)); }
inline std::uint16_t bf16_from_double(double value) { return bf16_from_float(float_to_odd(value)); }

}  // namespace rml::rt
