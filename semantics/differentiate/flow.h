// The data that rules for adjoints read and produce.
//
// A rule takes an expression of the original and the adjoint of its value, and passes adjoints on
// to the parts of the expression. New names are numbered in the order of visits, so parts are
// passed on one after the other, each with all of its subexpressions.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "semantics/differentiate/activity.h"
#include "semantics/differentiate/acts.h"
#include "semantics/differentiate/derivatives.h"
#include "semantics/differentiate/shapes.h"

namespace rml::derivation {

// The adjoint of a variable, present where `act` holds.
struct Adjoint {
  Symbol act, value;
  bool given() const { return act.valid(); }
};

// The contribution of `x when [not] condition` to the variable x, before padding at the other
// cycles.
struct Branch {
  Sampling sampling;
  Symbol act;
  ExprId adjoint;
};

// An adjoint on its way down an expression: present where `act` holds, with the broadcast shape
// `shape`.
struct Flow {
  Symbol act;
  ExprId adjoint;
  ShapeOf shape;
  std::optional<Branch> branch = {};
};

using PassOn = std::function<void(ExprId part, Flow)>;

// Inputs of the derived node after those of the original. `rates` and `steps` are by root of its
// clocks.
struct AddedInputs {
  std::vector<Symbol> bps;                             // activities of adjoints, by position in Derivative::bps
  std::map<std::uint32_t, std::vector<Symbol>> rates;  // arguments of the optimiser, by root of their clock
  // The inputs of `step_inputs`, if it sums gradients.
  std::map<std::uint32_t, std::vector<Symbol>> steps;
  std::function<void(std::uint32_t root)> add_root;  // adds `rates` and `steps` for a root that no adjoint has
};

// The inputs for a root. A root that no output with an adjoint has belongs to a constant, which
// may be on any clock, so it uses the inputs of the first root.
inline const std::vector<Symbol>& of_root(const std::map<std::uint32_t, std::vector<Symbol>>& inputs,
                                          std::uint32_t root) {
  const auto own = inputs.find(root);
  return own != inputs.end() ? own->second : inputs.begin()->second;
}

// The state of one node's derivation.
struct Derivation {
  const NodeFacts& node;
  const Activity& activity;
  AddedInputs& added;
  Shapes& shapes;
  GradientWriter& write;
  Conditions& conditions;
  Acts& acts;
  Derivatives& derivatives;
  bool failed = false;  // true after an error was reported
};

// The flow with exactly the shape of e.
Flow reduced(Derivation& d, Flow flow, ExprId e);

// e on the clock reached by the samplings.
ExprId sampled_by(GradientWriter& write, ExprId e, const std::vector<Sampling>& list);

// Reports E0601: e passes on no adjoint.
Diagnostic& refuse(Derivation& d, ExprId e, const std::string& because);

}  // namespace rml::derivation
