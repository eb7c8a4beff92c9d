// Names for the conditions of clocks. All expressions for the same condition get one name;
// otherwise equal clocks would become different when they are written again.
//
//   y = x when (a > b);  z = y + (w when (a > b));      both are sampled by c, with c = a > b
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "semantics/check/infer_clocks_conditions.h"
#include "semantics/differentiate/writer.h"

namespace rml::derivation {

struct Sampling {
  Symbol condition;
  bool positive = true;
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

class Conditions {
 public:
  Conditions(const NodeFacts& node, GradientWriter& write);

  // The name of a condition of the original node.
  Symbol named(ExprId e);
  // The conditions from the root of the node's clocks down to a clock, each on the clock that it
  // samples.
  std::vector<Sampling> down_to(ClockTermId clock);
  std::uint32_t root(ClockTermId clock) const { return root_of(node_.clocks, clock); }
  // A condition that is variable `variable` of a node's interface, brought to the clock reached
  // by `list`. Clock inference represents a condition by one variable of the interface, which may
  // be on a clock above.
  Symbol brought_down(Symbol condition, const ClockedNode& of, std::size_t variable, const std::vector<Sampling>& list);
  // `value when condition`, with one name for all uses.
  Symbol sampled(Symbol value, const Sampling& s);
  // True if the sampling does not change the clock, because the condition is a constant.
  bool keeps_all(const Sampling& s) const;

 private:
  void collect(ExprId e);
  ExprId without_not(ExprId e) const;
  bool is_same_clock(ClockTermId a, ClockTermId b);
  // Clock inference represents equal conditions by one variable, also if they are on different clocks. Returns a
  // variable with the same value that is on the clock or on one above, and whether it is the same or the negation.
  std::pair<std::uint32_t, bool> variable_on_the_way(std::uint32_t variable, ClockTermId clock);
  ClockCondition held(const ClockTerm& term);

  const NodeFacts& node_;
  GradientWriter& write_;
  ConditionClasses classes_;
  // Conditions that are expressions without a name; negations are removed.
  std::vector<ExprId> unnamed_;
  std::map<Symbol, bool> constants_;  // conditions that are constants, with their values
  // The name of a sampled value, found by value, condition and sign.
  std::map<std::tuple<Symbol, Symbol, bool>, Symbol> sampled_;
};

}  // namespace rml::derivation
