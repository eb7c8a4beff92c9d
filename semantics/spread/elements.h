// What differs between the elements of a `map` whose node has more than values of one cycle in it: memory, parameters,
// random numbers. All of that stands outside of the iteration (see spread.h); here is asked what of the body is one
// for all elements.
//
//   node f(x, w) -> (y)        map f(xs; w)
//     k = param(1.0);          one for all, as `w` is and what is computed from both; but it differs where what moves
//                              it does, as in a node that trains itself by what it sees
//     s = 0.0 fby s + k * x;   differs
//     y = s when c             present at cycles of its own where `c` differs
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "semantics/core/core.h"

namespace rml::mapped {

// `sum_over_elements(x)`, or what is one for those that have a parameter together: one number for all.
bool is_over_elements(OperatorId op);
// `sum_over_sharers(x, p, maps)`: one for all where p is.
bool is_over_sharers(OperatorId op);

class Elements {
 public:
  // The first `sequences` inputs of the body are elements.
  Elements(const Core& body, std::size_t sequences);

  bool differs(ValueId v) const { return values_[v.index]; }
  // Whether elements may be there at different instants.
  bool differs(ClockId c) const { return clocks_[c.index]; }
  // Of what is over elements: that each has its own parameter, so that no other element shares it.
  bool is_own(const core::Apply& over) const;
  // The nearest clock outwards that is one for all.
  ClockId home(ClockId c) const;

 private:
  void mark(ValueId v);
  void mark(ClockId c);
  void spread();
  bool mark_what_is_drawn();

  const Core& body_;
  std::vector<bool> values_, clocks_;
  std::vector<ValueId> work_;
  std::vector<std::vector<ValueId>> values_on_;   // by clock
  std::vector<std::vector<ClockId>> sampled_by_;  // by value
  std::vector<std::vector<ClockId>> within_;      // by clock: those sampled from it
};

// Whether an equation reads within the cycle what stands behind it. Operands stand first, so it is one of several that
// go round, which conditions keep apart.
bool reads_what_is_behind(const Core& body, ValueId v);

// Whether there is more than values of one cycle in a body.
bool lives_in_time(const Core& body);

// Why a node cannot be mapped all the same.
struct Obstacle {
  std::string because;
  Span at;
  std::string note;
};
std::optional<Obstacle> find_obstacle(const Core& body, const Elements&);

}  // namespace rml::mapped
