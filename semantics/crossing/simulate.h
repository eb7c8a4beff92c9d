// Conditions that depend on no input: what they do for ever, found by running them.
//
// Such a condition is computed from finite state (counters, constants); its run ends in a
// lasso. Walking it to the end proves that the condition comes true again and again, with
// the longest distance between two times, or that from some cycle on it never does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "semantics/core/dependence.h"

namespace rml {

struct Recurrence {
  enum Kind : std::uint8_t {
    unknown,  // depends on inputs, random draws or the future, or the lasso is too long
    recurs,   // true at least once in every `period` instants
    stops,    // not true any more from instant `since` on
  } kind = unknown;
  bool inputs = false;  // unknown because inputs take part
  std::int64_t period = 0;
  std::int64_t since = 0;
};

// How often the literal holds, on the instants of its clock.
Recurrence find_recurrence(const Core&, Literal);

// Where a condition that depends on no input holds: at the cycles up to a loop, then at those of the loop for ever.
// Nothing if it depends on more, or does not repeat itself within so many cycles.
struct Lasso {
  std::vector<bool> held;
  std::size_t loop = 0;  // where it begins; it is not empty
};
std::optional<Lasso> find_lasso(const Core&, ValueId condition, std::int64_t cycles);

}  // namespace rml
