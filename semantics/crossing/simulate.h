// The future of conditions that depend on no input, found by running them.
//
// Such a condition is computed from finite state (counters, constants), so its run ends in a
// lasso: a prefix and a loop. Running it to the end of the lasso proves that the condition
// recurs, with the longest distance between two instants where it is true, or that it is false
// from some cycle on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "semantics/core/dependence.h"

namespace rml {

struct Recurrence {
  enum Kind : std::uint8_t {
    unknown,  // depends on inputs, draws or the future, or the lasso is too long
    recurs,   // true at least once in every `period` instants
    stops,    // false from instant `since` on
  } kind = unknown;
  bool inputs = false;  // the recurrence is unknown because it depends on inputs
  std::int64_t period = 0;
  std::int64_t since = 0;
};

// How often the literal holds, at the instants of its clock.
Recurrence find_recurrence(const Core&, Literal);

// The cycles at which a condition without inputs holds: a prefix, then a loop that repeats for
// ever. Nothing if the condition depends on inputs or does not repeat within the limit.
struct Lasso {
  std::vector<bool> held;
  std::size_t loop = 0;  // index at which the loop starts; the loop is not empty
};
std::optional<Lasso> find_lasso(const Core&, ValueId condition, std::int64_t cycles);

}  // namespace rml
