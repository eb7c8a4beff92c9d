// The scalar operations that elementwise rows apply to each element.
//
// This file defines them. Generated code computes the same bits; for an operation composed of
// others it is written by the same body (spelling.h). Integers wrap: arithmetic uses the unsigned
// type of at least 32 bits, where it cannot overflow. Floats are computed in their own type, with
// the C library's functions for that type and without contraction. Comparisons with NaN are
// false, except ne.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "semantics/operators/half_types.h"
#include "semantics/operators/spelling.h"

namespace rml::scalar {

template <class T>
concept Float = std::is_floating_point_v<T>;

template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

// Further functions that bodies need, for numbers of the host. spelling.h has them for terms.
template <class T>
  requires std::is_arithmetic_v<T>
constexpr T number_like(T, double value) {
  return static_cast<T>(value);
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr T select(bool condition, T a, T b) {
  return condition ? a : b;
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr bool is_nan(T x) {
  return x != x;
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr bool or_nan(bool truth, T x) {
  return truth || x != x;
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr bool above_or_nan(T x, T bound) {
  return x > bound || x != x;
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr bool is_real(T) {
  return Float<T>;
}
template <class T>
  requires std::is_arithmetic_v<T>
constexpr bool has_sign(T) {
  return std::is_signed_v<T>;
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a + b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::add, a, b); }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a - b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::sub, a, b); }
};
struct Mul {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>)
      return a * b;
    else
      return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::mul, a, b); }
};
struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (Float<T>)
      return -x;
    else
      return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(x));
  }
  Term operator()(Term x) const { return spell(ScalarOp::negate, x); }
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
  Term operator()(Term a, Term b) const { return spell(ScalarOp::div, a, b); }
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
  Term operator()(Term a, Term b) const { return spell(ScalarOp::mod, a, b); }
};

struct Eq {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::eq, a, b); }
};
struct Ne {
  template <class T>
  bool operator()(T a, T b) const {
    return a != b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::ne, a, b); }
};
struct Lt {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::lt, a, b); }
};
struct Le {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::le, a, b); }
};
struct Gt {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::gt, a, b); }
};
struct Ge {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::ge, a, b); }
};
struct And {
  template <class T>
  bool operator()(T a, T b) const {
    return a && b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::logical_and, a, b); }
};
struct Or {
  template <class T>
  bool operator()(T a, T b) const {
    return a || b;
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::logical_or, a, b); }
};
struct Not {
  template <class T>
  bool operator()(T x) const {
    return !x;
  }
  Term operator()(Term x) const { return spell(ScalarOp::logical_not, x); }
};

// NaN if either operand is NaN; a if both compare equal (so the first of -0 and 0).
struct Minimum {
  template <class N>
  N operator()(N a, N b) const {
    const auto below = Le{}(a, b);
    return select(or_nan(below, a), a, b);
  }
};
struct Maximum {
  template <class N>
  N operator()(N a, N b) const {
    const auto above = Ge{}(a, b);
    return select(or_nan(above, a), a, b);
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
  Term operator()(Term x) const { return spell(ScalarOp::abs, x); }
};
// The sign of a number: -1, 0 or 1. NaN stays NaN, and -0 becomes 0.
struct Sign {
  template <class T>
  T operator()(T x) const {
    if (x != x) return x;
    return static_cast<T>(static_cast<int>(x > T(0)) - static_cast<int>(x < T(0)));
  }
  Term operator()(Term x) const { return spell(ScalarOp::sign, x); }
};
struct Relu {
  template <class N>
  N operator()(N x) const {
    const N zero = number_like(x, 0);
    return select(above_or_nan(x, zero), x, zero);
  }
};

struct Select {
  Term operator()(Term condition, Term a, Term b) const { return select(condition, a, b); }
};

struct Floor {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::floor, x); }
};
struct Ceil {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::ceil, x); }
};
// The nearest integer; halves are rounded to the even one.
struct Round {
  template <class T>
  T operator()(T x) const {
    return std::nearbyint(x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::round, x); }
};
// A function of the C library, by its name there.
#define RML_LIBRARY_FUNCTION(Name, f)                            \
  struct Name {                                                  \
    template <class T>                                           \
    T operator()(T x) const {                                    \
      return std::f(x);                                          \
    }                                                            \
    Term operator()(Term x) const { return x.by().call(#f, x); } \
  }
RML_LIBRARY_FUNCTION(Exp, exp);
RML_LIBRARY_FUNCTION(Log, log);
struct Sqrt {
  template <class T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::sqrt, x); }
};
RML_LIBRARY_FUNCTION(Sin, sin);
RML_LIBRARY_FUNCTION(Cos, cos);
RML_LIBRARY_FUNCTION(Tanh, tanh);
struct Sigmoid {
  template <class N>
  N operator()(N x) const {
    const N one = number_like(x, 1), power = Exp{}(Negate{}(x));
    return Div{}(one, Add{}(one, power));
  }
};

// Integers: repeated squaring with wrapping; a negative exponent gives 0 unless the base is 1 or
// -1.
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
  Term operator()(Term a, Term b) const { return spell(ScalarOp::pow, a, b); }
};

// Numbers to bool: x != 0 (NaN is true). Floats to integers: toward zero, saturating, NaN to 0.
// Integers to narrower integers: the low bits. All others as IEEE 754 rounds.
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
    // Both bounds are powers of two (or zero), so they are exact in From.
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
