// Activity analysis: the variables and expressions of a node that take part in its gradient.
//
//   k = param(1.0);  m = 2.0;  y = k * (x + m);  z = y * y;      dy is given, dz is not
//
// x, k, y and z are varied: they depend on an input or a parameter; m does not. Of these, x, k
// and y are useful: an output with a given adjoint depends on them. Only useful variables get
// adjoints.
#pragma once

#include <functional>
#include <set>
#include <unordered_set>

#include "semantics/differentiate/facts.h"

namespace rml::derivation {

class Activity {
 public:
  // Analyses a node. `has_parameters` is true for a node that has a `param`, or calls a node that
  // has one.
  Activity(const NodeFacts& node, const std::function<bool(NodeId)>& has_parameters);

  // True if the value of e depends on a differentiable input or a parameter. Conditions do not
  // count.
  bool is_varied(ExprId e) const { return e.valid() && varied_.contains(e.index); }
  // True if an adjoint of e contributes to some gradient.
  bool takes_adjoint(ExprId e) const { return is_varied(e) && node_.is_float_expr(e); }
  bool is_useful(std::uint32_t variable) const { return useful_[variable]; }
  // `reached`: the variables to whose adjoints an equation contributes. `users`: the number of
  // equations that contribute to the adjoint of a variable.
  const std::set<std::uint32_t>& reached(std::size_t equation) const { return reached_[equation]; }
  std::size_t users(std::uint32_t variable) const { return users_[variable]; }

 private:
  void find_varied(const std::function<bool(NodeId)>& has_parameters);
  bool vary(ExprId e, const std::function<bool(NodeId)>& has_parameters);
  void find_useful();
  void reach(ExprId e, std::set<std::uint32_t>& out) const;

  const NodeFacts& node_;
  // One per variable: it depends on a differentiated input; it affects an output.
  std::vector<bool> varied_variables_, useful_;
  std::unordered_set<std::uint32_t> varied_;  // expressions that depend on a differentiated input, as ExprIds
  // Indexed by equation: variables that receive adjoints from its expressions.
  std::vector<std::set<std::uint32_t>> reached_;
  std::vector<std::size_t> users_;  // one per variable: number of its users
};

}  // namespace rml::derivation
