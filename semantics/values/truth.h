// What is found out of a Boolean while recurrences are followed to a fixed point.
//
// Every one is first `unseen`, taken for true and false alike; it becomes known, then at most
// `varies`. The functions never take that back when what they are given rises, so walks end.
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

// and, or: either operand decides if it is `deciding`.
inline Truth connective(Truth x, Truth y, Truth deciding) {
  if (x == deciding || y == deciding) return deciding;
  // The highest that both outcomes of the unseen one stay below.
  if (x == Truth::unseen || y == Truth::unseen)
    return x == Truth::varies || y == Truth::varies ? deciding : Truth::unseen;
  return x == Truth::varies || y == Truth::varies ? Truth::varies : x;
}

}  // namespace rml
