// f16 and bf16 as C++ types, for kernels that store, compare and convert elements.
//
// They convert implicitly to float, and from numbers by a single rounding to nearest even.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/kernels/half_float.h"

namespace rml {

struct F16 {
  std::uint16_t bits = 0;
  F16() = default;
  explicit F16(double value) : bits(rt::f16_from_double(value)) {}
  operator float() const { return rt::float_from_f16(bits); }  // NOLINT(google-explicit-constructor)
};

struct BF16 {
  std::uint16_t bits = 0;
  BF16() = default;
  explicit BF16(double value) : bits(rt::bf16_from_double(value)) {}
  operator float() const { return rt::float_from_bf16(bits); }  // NOLINT(google-explicit-constructor)
};

template <class T>
concept Half = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

// Rounds an integer that a double cannot hold to odd: the last digit records that digits were
// lost, so that a second rounding is correct.
template <class Integer>  // Integer is a type of 64 bits.
double double_to_odd(Integer value) {
  constexpr Integer exact = Integer{1} << 53, lost = (1 << 11) - 1;
  if (value < exact && (value >= 0 || value > -exact)) return static_cast<double>(value);
  return static_cast<double>((value & ~lost) | ((value & lost) != 0 ? lost + 1 : 0));
}

}  // namespace rml
