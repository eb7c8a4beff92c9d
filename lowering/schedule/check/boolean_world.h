// Simulates the Booleans of a program over its first 64 cycles, so that a schedule can be checked against many runs.
//
// A schedule must be right in every run. Only the cycles at which Booleans hold decide that; numbers do not matter. A
// *world* is the beginning of one run. Its *letters* are drawn: inputs, comparisons and every other Boolean that no
// equation between Booleans determines. The other Booleans follow by their meaning: constants, not, and, or, equality,
// `when`, `merge`, `fby`, `post` and clocks. A Boolean that depends on cycles after the last one is unknown.
//
// The draws are the same in every compilation. In the first world, up to three letters take all sequences of values
// that have six bits in total (of a single letter: over any six cycles). Other letters are drawn at random. If a cycle
// breaks an assumption of the schedule, it is drawn again, up to a limit.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

using Cycles = std::uint64_t;  // a set of cycles: bit t is cycle t
inline constexpr int cycles_in_a_world = 64;

template <class F>
void for_each_cycle(Cycles set, const F& f) {
  for (; set != 0; set &= set - 1) f(std::countr_zero(set));
}

// The result of a search for a cycle. `none`: it is known that no such cycle exists.
struct Neighbour {
  enum Kind : std::uint8_t { unknown, none, at } kind = unknown;
  int cycle = 0;
};

// The Booleans that conditions of clocks and merges depend on, and the requested ones. A Boolean follows those that it
// reads at the same cycle.
class BooleanOrder {
 public:
  BooleanOrder(const Core&, const std::vector<ValueId>& asked);

  enum class Meaning : std::uint8_t { clock, letter, negation, both, either, equal, unequal, sample, merge, fby, post };
  struct Node {
    Meaning meaning;
    std::uint32_t index;  // the number of a clock or a value
    ValueId a, b, c;      // operands of the node
  };
  const Core& core() const { return core_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<ValueId>& letters() const { return letters_; }
  bool looks_ahead() const { return looks_ahead_; }

 private:
  Node node_of(ValueId) const;
  Node node_of(ClockId) const;
  void visit(Node);
  void visit_instant(Node, std::vector<Node>& others);

  const Core& core_;
  std::vector<Node> nodes_;
  std::vector<ValueId> letters_;
  std::vector<bool> seen_values_, seen_clocks_;
  bool looks_ahead_ = false;
};

class BooleanWorld {
 public:
  // True if an assumption is known to be broken at a cycle.
  using Broken = std::function<bool(const BooleanWorld&, int cycle)>;
  BooleanWorld(const BooleanOrder&, std::uint32_t number, const Broken&);

  Cycles present(ClockId c) const { return c.valid() ? present_[c.index] : ~Cycles{0}; }
  Cycles absent(ClockId c) const { return c.valid() ? absent_[c.index] : Cycles{0}; }
  // The cycles at which a value is present and known to hold, or known not to hold.
  Cycles yes(ValueId v) const { return yes_[v.index] & present(core_[v].clock); }
  Cycles no(ValueId v) const { return no_[v.index] & present(core_[v].clock); }
  // The nearest instants of a clock before and after a cycle.
  Neighbour before(ClockId, int cycle) const;
  Neighbour after(ClockId, int cycle) const;

 private:
  void draw(std::uint32_t attempt, int cycle);
  void forget(int cycle);
  void evaluate(Cycles where);
  void evaluate(const BooleanOrder::Node&, Cycles where);
  void evaluate_delay(const BooleanOrder::Node&, Cycles where);
  void look_ahead();
  std::uint64_t known() const;

  const BooleanOrder& order_;
  const Core& core_;
  const std::uint32_t number_;
  // In the first world, the sequences of all letters together, if there are few letters.
  std::vector<std::uint8_t> sequence_;
  std::vector<Cycles> yes_, no_;          // one per value: the cycles at which it is known to be true, or false
  std::vector<Cycles> present_, absent_;  // one per clock: the cycles at which it is known to be present, or absent
};

}  // namespace rml
