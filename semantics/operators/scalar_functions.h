// The scalar operations of functions.cc, in the manner of scalar.h.
//
// Functions of the C library are taken in the operand's own type. What it lacks is written so that
// it neither overflows nor loses digits where the exact value is a float.
#pragma once

#include "semantics/operators/scalar.h"

namespace rml::scalar {

// A function of the C library, by the name that it has there.
#define RML_LIBRARY_FUNCTION(Name, f) \
  struct Name {                       \
    template <class T>                \
    T operator()(T x) const {         \
      return std::f(x);               \
    }                                 \
  }
RML_LIBRARY_FUNCTION(Log1p, log1p);
RML_LIBRARY_FUNCTION(Expm1, expm1);
RML_LIBRARY_FUNCTION(Log2, log2);
RML_LIBRARY_FUNCTION(Log10, log10);
RML_LIBRARY_FUNCTION(Exp2, exp2);
RML_LIBRARY_FUNCTION(Tan, tan);
RML_LIBRARY_FUNCTION(Asin, asin);
RML_LIBRARY_FUNCTION(Acos, acos);
RML_LIBRARY_FUNCTION(Atan, atan);
RML_LIBRARY_FUNCTION(Sinh, sinh);
RML_LIBRARY_FUNCTION(Cosh, cosh);
RML_LIBRARY_FUNCTION(Asinh, asinh);
RML_LIBRARY_FUNCTION(Acosh, acosh);
RML_LIBRARY_FUNCTION(Atanh, atanh);
RML_LIBRARY_FUNCTION(Erf, erf);
RML_LIBRARY_FUNCTION(Erfc, erfc);
RML_LIBRARY_FUNCTION(Cbrt, cbrt);
RML_LIBRARY_FUNCTION(Trunc, trunc);
#undef RML_LIBRARY_FUNCTION

// log(1 + exp(x)): exp of nothing positive is taken.
struct Softplus {
  template <class T>
  T operator()(T x) const {
    return (x > T(0) ? x : T(0)) + std::log1p(std::exp(-std::fabs(x)));
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct Square {
  template <class T>
  T operator()(T x) const {
    return Mul{}(x, x);
  }
};
struct Rsqrt {
  template <class T>
  T operator()(T x) const {
    return T(1) / std::sqrt(x);
  }
};

struct IsNan {
  template <class T>
  bool operator()(T x) const {
    return x != x;
  }
};
struct IsInf {
  template <class T>
  bool operator()(T x) const {
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  }
};
struct IsFinite {
  template <class T>
  bool operator()(T x) const {
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  }
};

struct Atan2 {
  template <class T>
  T operator()(T a, T b) const {
    return std::atan2(a, b);
  }
};
struct Hypot {
  template <class T>
  T operator()(T a, T b) const {
    return std::hypot(a, b);
  }
};
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
};
// The remainder of the division rounded down, with the sign of b; b is no integer 0.
struct FloorMod {
  template <class T>
  T operator()(T a, T b) const {
    const T r = Mod{}(a, b);
    if (r == T(0)) {
      if constexpr (Float<T>) return std::copysign(r, b);
      return r;
    }
    return (r < T(0)) != (b < T(0)) ? static_cast<T>(r + b) : r;
  }
};

struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct BitNot {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
// A distance that is negative or not below the number of bits moves all of them out.
template <class T>
constexpr bool within(T distance) {
  return distance >= T(0) && static_cast<std::uint64_t>(distance) < 8 * sizeof(T);
}
struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    return within(b) ? static_cast<T>(static_cast<Wide<T>>(a) << b) : T(0);
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    return within(b) ? static_cast<T>(a >> b) : a < T(0) ? T(-1) : T(0);
  }
};

}  // namespace rml::scalar
