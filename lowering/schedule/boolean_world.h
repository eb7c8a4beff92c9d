// Cycles of a program as its Booleans see them, from the first cycle on.
//
// A schedule must be right in every run. Of a run, what decides is where which Booleans hold; numbers do not matter. A
// world is the beginning of a run, of 64 cycles: letters (inputs, comparisons, all that equations of Booleans do not
// tell) are drawn, and the rest follows by meaning: constants, not, and, or, equality, `when`, `merge`, `fby`, `post`
// and clocks. What hangs on cycles after the last is unknown.
//
// Draws are the same for everybody, always. In the first world up to three letters take all sequences of values that
// have six bits in all (of one letter, over any six cycles); others are drawn at random. Where what is drawn breaks
// something that is assumed to hold, the cycle is drawn again, some times.
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

// A cycle that is looked for: it may be known that there is none.
struct Neighbour {
  enum Kind : std::uint8_t { unknown, none, at } kind = unknown;
  int cycle = 0;
};

// The Booleans that conditions of clocks and merges hang on, and those asked for, in an order in which what a cycle
// needs of itself comes first.
class BooleanOrder {
 public:
  BooleanOrder(const Core&, const std::vector<ValueId>& asked);

  enum class Meaning : std::uint8_t { clock, letter, negation, both, either, equal, unequal, sample, merge, fby, post };
  struct Node {
    Meaning meaning;
    std::uint32_t index;  // a clock or a value
    ValueId a, b, c;      // of what it is made
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
  // Whether an assumption is broken at a cycle, as far as is known.
  using Broken = std::function<bool(const BooleanWorld&, int cycle)>;
  BooleanWorld(const BooleanOrder&, std::uint32_t number, const Broken&);

  Cycles present(ClockId c) const { return c.valid() ? present_[c.index] : ~Cycles{0}; }
  Cycles absent(ClockId c) const { return c.valid() ? absent_[c.index] : Cycles{0}; }
  // Where a value is there and known to hold, or not to hold.
  Cycles yes(ValueId v) const { return yes_[v.index] & present(core_[v].clock); }
  Cycles no(ValueId v) const { return no_[v.index] & present(core_[v].clock); }
  // The instants of a clock around a cycle.
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
  std::vector<std::uint8_t> sequence_;    // of all letters together, in the first world, if they are few
  std::vector<Cycles> yes_, no_;          // by value
  std::vector<Cycles> present_, absent_;  // by clock
};

}  // namespace rml
