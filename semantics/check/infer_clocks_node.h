// The clocks of one node while they are inferred: what the rules unify, messages tell and the scheme is made of.
#pragma once

#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/infer_clocks_conditions.h"
#include "semantics/check/infer_clocks_solver.h"

namespace rml {

struct NodeClocks {
  // Each variable begins with a clock of its own.
  NodeClocks(const Program& program, const Resolved& names, NodeId n)
      : node(program.nodes[n.index]), resolved(names.nodes[n.index]), conditions(program, names) {
    conditions.enter(n);
    for (std::size_t v = 0; v < resolved.variables.size(); ++v) variables.push_back(solver.fresh());
  }

  const ast::Node& node;
  const ResolvedNode& resolved;
  ClockSolver solver;
  ConditionClasses conditions;
  std::vector<SolverClock> variables;                                       // by variable
  std::vector<std::pair<ExprId, SolverClock>> exprs;                        // as they were met
  std::vector<std::pair<ExprId, std::vector<SolverClock>>> instantiations;  // calls: for the variables of the scheme
};

}  // namespace rml
