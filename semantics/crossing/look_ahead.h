// The crossings of the values of a core as equations (equations.h): a value is determined by the
// inputs up to an instant if and only if its set is empty there.
//
//   input                           none
//   operators, calls, when          the union of the operands
//   merge c a b                     c, and a where c holds, b elsewhere
//   post e                          {p}, through(p) = e; on a clock: {p}, through(p) = e if it ticks, else {p}
//   i fby e                         at the first instant i; later the current crossing of the previous e
//
// The crossing of a value on a clock includes that of the clock's conditions. A value has no
// crossing if it depends on no `post` and on no value that is defined by itself within an
// instant.
#pragma once

#include <unordered_map>

#include "semantics/crossing/equations.h"

namespace rml {

class LookAhead {
 public:
  LookAhead(const Core&, Conditions&, Crossings&);

  // The crossing of a value where it is present.
  Crossings::Node of(ValueId v) { return nodes_[v.index]; }
  // The crossing of the question whether a clock has this cycle.
  Crossings::Node of_clock(ClockId);
  // The crossing of a row's column: that of its presence, and of its value where it is present.
  Crossings::Node of_column(ValueId);
  // True if the crossing is always empty.
  bool at_once(ValueId v) const { return !looks_[v.index]; }
  // By port: the posts whose operand it represents.
  const std::unordered_map<PortId, std::vector<ValueId>>& posts() const { return posts_; }

 private:
  void find_looking();
  void write(ValueId);
  Crossings::Node define(ValueId);
  Crossings::Node post(ValueId, ValueId operand);
  Crossings::Node fby(ValueId, const core::Fby&);

  const Core& core_;
  Conditions& conditions_;
  Crossings& crossings_;
  std::vector<bool> looks_;
  std::vector<Crossings::Node> nodes_;
  std::unordered_map<std::uint32_t, Crossings::Node> clocks_;
  // Indexed by clock and operand: node of the question whether the clock has the cycle.
  std::unordered_map<std::uint64_t, Crossings::Node> asked_;
  std::unordered_map<PortId, std::vector<ValueId>> posts_;
};

}  // namespace rml
