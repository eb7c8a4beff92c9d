// The knowledge about a Boolean while recurrences are followed to a fixed point.
//
// Each Boolean is first `unseen`, which counts as both true and false. It may become known, and
// then `varies`, but never goes back. The functions are monotonic in this order, so fixed-point
// iterations terminate.
#pragma once

#include <cstdint>

namespace rml {

enum class Truth : std::int8_t { unseen, no, yes, varies };

inline Truth truth_of(bool truth) { return truth ? Truth::yes : Truth::no; }
inline bool is_known(Truth t) { return t == Truth::yes || t == Truth::no; }

inline Truth negated(Truth t) {
  if (!is_known(t)) return t;
  return truth_of(t == Truth::no);
}

inline Truth join(Truth x, Truth y) {
  if (x == Truth::unseen || x == y) return y;
  return y == Truth::unseen ? x : Truth::varies;
}

inline Truth choice(Truth condition, Truth on_true, Truth on_false) {
  switch (condition) {
    case Truth::unseen:
      return Truth::unseen;
    case Truth::yes:
      return on_true;
    case Truth::no:
      return on_false;
    default:
      return join(on_true, on_false);
  }
}

// and, or: an operand that equals `deciding` decides the result.
inline Truth connective(Truth x, Truth y, Truth deciding) {
  if (x == deciding || y == deciding) return deciding;
  // The greatest lower bound of the results for both values of the unseen operand.
  if (x == Truth::unseen || y == Truth::unseen)
    return x == Truth::varies || y == Truth::varies ? deciding : Truth::unseen;
  return x == Truth::varies || y == Truth::varies ? Truth::varies : x;
}

}  // namespace rml
