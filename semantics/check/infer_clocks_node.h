// The clocks of one node during inference: the rules unify them, messages describe them, and the
// scheme is made from them.
#pragma once

#include <vector>

#include "semantics/check/checked.h"
#include "semantics/check/infer_clocks_conditions.h"
#include "semantics/check/infer_clocks_solver.h"

namespace rml {

struct NodeClocks {
  // Each variable starts with a fresh clock.
  NodeClocks(const Program& program, const Resolved& names, NodeId n)
      : node(program.nodes[n.index]), resolved(names.nodes[n.index]), conditions(program, names) {
    conditions.enter(n);
    for (std::size_t v = 0; v < resolved.variables.size(); ++v) variables.push_back(solver.fresh());
  }

  const ast::Node& node;
  const ResolvedNode& resolved;
  ClockSolver solver;
  ConditionClasses conditions;
  std::vector<SolverClock> variables;  // clock of each variable of the node
  // Clocks of the expressions, in the order in which they were visited.
  std::vector<std::pair<ExprId, SolverClock>> exprs;
  // By call: clocks for the variables of the callee's scheme.
  std::vector<std::pair<ExprId, std::vector<SolverClock>>> instantiations;
};

}  // namespace rml
