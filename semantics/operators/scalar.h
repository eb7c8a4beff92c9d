// The scalar operations that elementwise rows apply to each element.
//
// This file is their definition; generated code does the same, bit for bit. Integers wrap:
// arithmetic is done on the unsigned type of at least 32 bits, where it cannot overflow.
// Floats compute in their own type with the C library's functions of that type and without
// contraction. Comparisons with NaN are false, except ne.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "semantics/operators/half_types.h"

namespace rml::scalar {

template <class T>
concept Float = std::is_floating_point_v<T>;

template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (Float<T>)
      return -x;
    else
      return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(x));
  }
};
// Truncates toward zero; the smallest integer divided by -1 wraps to itself. b is not 0.
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a / b;
    else if constexpr (std::is_signed_v<T>)
      return b == T(-1) ? Negate{}(a) : static_cast<T>(a / b);
    else
      return static_cast<T>(a / b);
  }
};
// The remainder of that division, with the sign of a; fmod for floats.
struct Mod {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return std::fmod(a, b);
    else if constexpr (std::is_signed_v<T>)
      return b == T(-1) ? T(0) : static_cast<T>(a % b);
    else
      return static_cast<T>(a % b);
  }
};

struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Ne {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Lt {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Ge {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct And {
  template <class T>
  bool operator()(T a, T b) const {
    return a && b;
  }
};
struct Or {
  template <class T>
  bool operator()(T a, T b) const {
    return a || b;
  }
};
struct Not {
  template <class T>
  bool operator()(T x) const {
    return !x;
  }
};

// NaN if either is NaN; a where they compare equal (so of -0 and 0 the first).
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a <= b || a != a ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a >= b || a != a ? a : b;
  }
};

struct Abs {
  template <class T>
  T operator()(T x) const {
    if constexpr (Float<T>)
      return std::fabs(x);
    else
      return x < T(0) ? Negate{}(x) : x;
  }
};
// -1, 0 or 1; NaN stays, and -0 becomes 0.
struct Sign {
  template <class T>
  T operator()(T x) const {
    if (x != x) return x;
    return static_cast<T>(static_cast<int>(x > T(0)) - static_cast<int>(x < T(0)));
  }
};
struct Relu {
  template <class T>
  T operator()(T x) const {
    return x > T(0) || x != x ? x : T(0);
  }
};

struct Floor {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};
struct Ceil {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};
struct Round {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
};  // half to even
struct Exp {
  template <class T>
  T operator()(T x) const {
    return std::exp(x);
  }
};
struct Log {
  template <class T>
  T operator()(T x) const {
    return std::log(x);
  }
};
struct Sqrt {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct Sin {
  template <class T>
  T operator()(T x) const {
    return std::sin(x);
  }
};
struct Cos {
  template <class T>
  T operator()(T x) const {
    return std::cos(x);
  }
};
struct Tanh {
  template <class T>
  T operator()(T x) const {
    return std::tanh(x);
  }
};
struct Sigmoid {
  template <class T>
  T operator()(T x) const {
    return T(1) / (T(1) + std::exp(-x));
  }
};

// Integers: repeated squaring, wrapping; a negative exponent gives 0 unless the base is 1 or -1.
struct Pow {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      return std::pow(a, b);
    } else {
      if constexpr (std::is_signed_v<T>) {
        if (b < T(0)) {
          if (a == T(1)) return a;
          if (a == T(-1)) return b % T(2) == 0 ? T(1) : T(-1);
          return T(0);
        }
      }
      auto base = static_cast<Wide<T>>(a);
      Wide<T> product = 1;
      for (auto n = static_cast<Wide<T>>(b); n != 0; n >>= 1) {
        if ((n & 1) != 0) product *= base;
        base *= base;
      }
      return static_cast<T>(product);
    }
  }
};

// Numbers to bool: x != 0 (NaN is true). Floats to integers: toward zero, saturating at the
// range, NaN to 0. Integers to narrower integers: the low bits. Else as IEEE 754 rounds.
template <class To, class From>
To convert(From x) {
  if constexpr (Half<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (Half<To> && std::is_integral_v<From> && sizeof(From) == 8) {
    return To(double_to_odd(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && Float<From>) {
    using Limits = std::numeric_limits<To>;
    // Both bounds are powers of two (or zero), hence exact in From.
    constexpr From above = static_cast<From>(Limits::max() / 2 + 1) * From(2);
    constexpr From lowest = static_cast<From>(Limits::min());
    if (x != x) return To(0);
    if (x >= above) return Limits::max();
    if (x <= lowest) return Limits::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace rml::scalar
