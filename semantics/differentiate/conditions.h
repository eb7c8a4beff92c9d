// Names for the conditions of clocks. All expressions that are the same condition get one name, or clocks that are
// equal would be so no more once they are written anew.
//
//   y = x when (a > b);  z = y + (w when (a > b));      both samplings by c, c = a > b
#pragma once

#include <map>
#include <tuple>
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

  // The name of a condition of the original.
  Symbol named(ExprId e);
  // The conditions from the root of the node's clocks down to a clock, each on the clock that it samples.
  std::vector<Sampling> down_to(ClockTermId clock);
  std::uint32_t root(ClockTermId clock) const { return root_of(node_.clocks, clock); }
  // A condition that is variable `variable` of a node's interface, where clocks of that node are sampled by `list`.
  // Checks represent a condition by one variable of the interface, which may be on a clock above.
  Symbol brought_down(Symbol condition, const ClockedNode& of, std::size_t variable, const std::vector<Sampling>& list);
  // `value when condition`, under one name.
  Symbol sampled(Symbol value, const Sampling& s);
  // Whether what is sampled has the clock that it is sampled from, as by a constant.
  bool keeps_all(const Sampling& s) const;

 private:
  void collect(ExprId e);
  ExprId without_not(ExprId e) const;
  bool is_same_clock(ClockTermId a, ClockTermId b);
  ClockCondition held(const ClockTerm& term);

  const NodeFacts& node_;
  GradientWriter& write_;
  ConditionClasses classes_;
  std::vector<ExprId> unnamed_;       // conditions of the node that are no names, without their negations
  std::map<Symbol, bool> constants_;  // conditions that are, and which
  std::map<std::tuple<Symbol, Symbol, bool>, Symbol> sampled_;  // by value, condition and its sign
};

}  // namespace rml::derivation
