// The scalar operations of functions.cc, in the style of scalar.h.
//
// Functions of the C library are called for the operand's own type. Others are written so that
// they neither overflow nor lose digits if the exact value is a float.
#pragma once

#include "semantics/operators/scalar.h"

namespace rml::scalar {

RML_LIBRARY_FUNCTION(Log1p, log1p);
RML_LIBRARY_FUNCTION(Expm1, expm1);
RML_LIBRARY_FUNCTION(Log2, log2);
RML_LIBRARY_FUNCTION(Log10, log10);
RML_LIBRARY_FUNCTION(Exp2, exp2);
RML_LIBRARY_FUNCTION(Erf, erf);
#undef RML_LIBRARY_FUNCTION

struct Trunc {
  template <class T>
  T operator()(T x) const {
    return std::trunc(x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::trunc, x); }
};
// The pivot of an elimination. Code stops the run if the pivot is 0, or not greater than 0.
struct NonzeroPivot {
  template <class T>
  T operator()(T x) const {
    return x;
  }
  Term operator()(Term x) const {
    x.by().stop_if(Eq{}(x, number_like(x, 0)));
    return x;
  }
};
struct PositivePivot {
  template <class T>
  T operator()(T x) const {
    return x;
  }
  Term operator()(Term x) const {
    x.by().stop_if(Not{}(Gt{}(x, number_like(x, 0))));
    return x;
  }
};
// log(1 + exp(x)); exp is applied to numbers ≤ 0 only.
struct Softplus {
  template <class N>
  N operator()(N x) const {
    const N zero = number_like(x, 0), above = select(Gt{}(x, zero), x, zero);
    const N power = Exp{}(Negate{}(Abs{}(x)));
    return Add{}(above, Log1p{}(power));
  }
};
struct Reciprocal {
  template <class N>
  N operator()(N x) const {
    return Div{}(number_like(x, 1), x);
  }
};
struct Square {
  template <class N>
  N operator()(N x) const {
    return Mul{}(x, x);
  }
};
struct Rsqrt {
  template <class N>
  N operator()(N x) const {
    return Div{}(number_like(x, 1), Sqrt{}(x));
  }
};

struct IsNan {
  template <class N>
  auto operator()(N x) const {
    return is_nan(x);
  }
};
struct IsInf {
  template <class N>
  auto operator()(N x) const {
    return Eq{}(Abs{}(x), number_like(x, std::numeric_limits<double>::infinity()));
  }
};
struct IsFinite {
  template <class N>
  auto operator()(N x) const {
    return Lt{}(Abs{}(x), number_like(x, std::numeric_limits<double>::infinity()));
  }
};

// The absolute value of a with the sign of b, where b is not NaN.
struct WithSign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(a, b);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::copysign, a, b); }
};
// The sign of NaN is undefined: processors take it from either operand.
struct CopySign {
  template <class N>
  N operator()(N a, N b) const {
    return select(Eq{}(b, b), WithSign{}(a, b), Abs{}(a));
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::bit_xor, a, b); }
};
// The remainder of the division rounded down, with the sign of b; b is no integer 0.
struct FloorMod {
  template <class N>
  N operator()(N a, N b) const {
    const N r = Mod{}(a, b);
    if (!has_sign(r)) return r;
    const N zero = number_like(r, 0);
    const auto none = Eq{}(r, zero);
    const N sum = Add{}(r, b);
    const auto b_below = Lt{}(b, zero), r_below = Lt{}(r, zero);
    const N moved = select(Xor{}(r_below, b_below), sum, r);
    return select(none, signed_zero(r, b), moved);
  }

 private:
  // The sign of a remainder of 0 is that of b.
  template <class N>
  static N signed_zero(N r, N b) {
    if constexpr (std::is_integral_v<N>)
      return r;
    else
      return is_real(r) ? WithSign{}(r, b) : r;
  }
};

struct BitAnd {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::bit_and, a, b); }
};
struct BitOr {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::bit_or, a, b); }
};
struct BitNot {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
  Term operator()(Term x) const { return spell(ScalarOp::bit_not, x); }
};
// False for a shift distance that is negative or not below the number of bits: it shifts out all
// bits.
template <class T>
constexpr bool within(T distance) {
  return distance >= T(0) && static_cast<std::uint64_t>(distance) < 8 * sizeof(T);
}
struct LeftShift {
  template <class T>
  T operator()(T a, T b) const {
    return within(b) ? static_cast<T>(static_cast<Wide<T>>(a) << b) : T(0);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::left_shift, a, b); }
};
struct RightShift {
  template <class T>
  T operator()(T a, T b) const {
    return within(b) ? static_cast<T>(a >> b) : a < T(0) ? T(-1) : T(0);
  }
  Term operator()(Term a, Term b) const { return spell(ScalarOp::right_shift, a, b); }
};

// Limits a value to [low, high]. If low > high, the result is `high`.
struct Clip {
  template <class N>
  N operator()(N x, N low, N high) const {
    return Minimum{}(Maximum{}(x, low), high);
  }
};

}  // namespace rml::scalar
