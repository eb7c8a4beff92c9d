// Analysis of the body of a `map` whose node has memory, parameters or random draws: which values
// are the same for all elements. The other passes move all of these out of the iteration (see
// spread.h).
//
//   node f(x, w) -> (y)        map f(xs; w)
//     k = param(1.0);          the same for all, as are `w` and values computed from both; but it differs if its
//                              changes do, as in a node that trains itself on its own data
//     s = 0.0 fby s + k * x;   differs
//     y = s when c             present at different cycles if `c` differs
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml::mapped {

// True for `sum_over_elements(x)`, whose result is the same for all elements, and for
// `sum_over_sharers`.
bool is_over_elements(OperatorId op);
// True for `sum_over_sharers(x, p, maps)`: its result is the same for all elements if p is.
bool is_over_sharers(OperatorId op);

class Elements {
 public:
  // The first `sequences` inputs of the body are elements.
  Elements(const Core& body, std::size_t sequences);

  bool differs(ValueId v) const { return values_[v.index]; }
  // True if elements may be present at different instants.
  bool differs(ClockId c) const { return clocks_[c.index]; }
  // For a sum over elements: true if each element has its own parameter, which no other element
  // shares.
  bool is_own(const core::Apply& over) const;
  // The clock itself or its nearest ancestor that is the same for all elements.
  ClockId home(ClockId c) const;

 private:
  void mark(ValueId v);
  void mark(ClockId c);
  void spread();
  bool mark_what_is_drawn();

  const Core& body_;
  std::vector<bool> values_, clocks_;
  std::vector<ValueId> work_;
  std::vector<std::vector<ValueId>> values_on_;   // indexed by clock: the values on it
  std::vector<std::vector<ClockId>> sampled_by_;  // indexed by value: the clocks that it samples
  std::vector<std::vector<ClockId>> within_;      // indexed by clock: the clocks sampled from it
};

// True if an equation reads a later value of the same cycle. Operands come first unless equations
// form a cycle, which conditions must break.
bool reads_what_is_behind(const Core& body, ValueId v);

// True if a body has memory, look-ahead, parameters, asserts, random draws or sums over elements.
bool lives_in_time(const Core& body);

// The reason for which a body that lives in time cannot be mapped.
struct Obstacle {
  std::string because;
  Span at;
  std::string note;
};
std::optional<Obstacle> find_obstacle(const Core& body, const Elements&);

}  // namespace rml::mapped
