// What passes on an adjoint has at hand, and what it makes.
//
// A rule takes an expression of the original and the adjoint of its value, and passes on what that means for its
// parts. The names that it makes on the way follow the order in which parts are visited, so parts are passed on one
// by one, each with all that is inside it.
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

// The adjoint of a variable, present where act holds.
struct Adjoint {
  Symbol act, value;
  bool given() const { return act.valid(); }
};

// What `x when [not] condition` passes on to the variable x, before it is padded where x is not sampled.
struct Branch {
  Sampling sampling;
  Symbol act;
  ExprId adjoint;
};

// An adjoint on its way down: present where act holds, of the broadcast shape of `shape`.
struct Flow {
  Symbol act;
  ExprId adjoint;
  ShapeOf shape;
  std::optional<Branch> branch = {};
};

using PassOn = std::function<void(ExprId part, Flow)>;

// Inputs of the derived node after those of the original; the later ones by root of the original's clocks.
struct AddedInputs {
  std::vector<Symbol> bps;                             // where adjoints are present: by place in Derivative::bps
  std::map<std::uint32_t, std::vector<Symbol>> rates;  // the optimizer's arguments
  std::map<std::uint32_t, std::vector<Symbol>> steps;  // what `step_inputs` lists, where gradients are added
};

// Those of a root. A root that no output with an adjoint has is a constant's: it may be on any clock, so it takes those
// of the first.
inline const std::vector<Symbol>& of_root(const std::map<std::uint32_t, std::vector<Symbol>>& inputs,
                                          std::uint32_t root) {
  const auto own = inputs.find(root);
  return own != inputs.end() ? own->second : inputs.begin()->second;
}

// One node's derivation while it goes on.
struct Derivation {
  const NodeFacts& node;
  const Activity& activity;
  const AddedInputs& added;
  Shapes& shapes;
  GradientWriter& write;
  Conditions& conditions;
  Acts& acts;
  Derivatives& derivatives;
  bool failed = false;  // an error was reported
};

// The flow as one of exactly the shape of e.
Flow reduced(Derivation& d, Flow flow, ExprId e);

// e on the clock that the samplings lead to.
ExprId sampled_by(GradientWriter& write, ExprId e, const std::vector<Sampling>& list);

// E0601: nothing is passed on by e.
Diagnostic& refuse(Derivation& d, ExprId e, const std::string& because);

}  // namespace rml::derivation
