// Converts solved clocks to a scheme, and instantiates the scheme at each call.
//
// Loops walk the chains of samplings, since clocks may be deep. Each class of equal clocks is
// written as one term. Example: `node f(x, c) -> (y) d = c and x > 0.0; y = x when d;` is
// rejected: y depends on the local d, which must become an output.
#include "semantics/check/infer_clocks_scheme.h"

namespace rml {

namespace {

// The clock variable of everything outside the interface: that of the first output if an input
// has it too, else that of the first input, else that of the first output.
SolverClock main_clock(NodeClocks& clocks) {
  SolverClock first_input, first_output;
  std::vector<SolverClock> inputs;
  for (std::size_t v = 0; v < clocks.variables.size(); ++v) {
    const SolverClock root = clocks.solver.root(clocks.variables[v]);
    if (clocks.solver[root].kind != ClockSolver::Kind::variable) continue;
    const Variable::Kind kind = clocks.resolved.variables[v].kind;
    if (kind == Variable::input) {
      if (!first_input.valid()) first_input = root;
      inputs.push_back(root);
    } else if (kind == Variable::output && !first_output.valid()) {
      first_output = root;
    }
  }
  for (const SolverClock root : inputs)
    if (root == first_output) return first_output;
  if (first_input.valid()) return first_input;
  if (first_output.valid()) return first_output;
  return clocks.solver.fresh();
}

class SchemeWriter {
 public:
  SchemeWriter(NodeClocks& clocks, ClockedNode& out) : clocks_(clocks), solver_(clocks.solver), out_(out) {
    const SolverClock main = main_clock(clocks);
    terms_.resize(solver_.size());
    for (std::size_t v = 0; v < clocks.variables.size(); ++v)
      if (clocks.resolved.variables[v].kind != Variable::local) enter(solver_.root(clocks.variables[v]));
    enter(main);
    main_ = terms_[main.index];
  }

  // t as a term of the scheme.
  ClockTermId term(SolverClock t) {
    std::vector<SolverClock> chain;
    t = solver_.find(t);
    if (solver_.is_never(t)) t = solver_.root(t);
    while (!terms_[t.index].valid() && solver_[t].kind == ClockSolver::Kind::on) {
      chain.push_back(t);
      t = solver_.find(solver_[t].parent);
    }
    ClockTermId found = terms_[t.index] = end(t);
    for (; !chain.empty(); chain.pop_back()) {
      const ClockCondition c = solver_[chain.back()].condition;
      const ConditionClasses::Class& as = clocks_.conditions[c.id];
      found = add({ClockTerm::on, 0, found, {as.variable, as.expr}, c.positive == as.positive});
      terms_[chain.back().index] = found;
    }
    return found;
  }

 private:
  void enter(SolverClock root) {
    if (solver_[root].kind != ClockSolver::Kind::variable || terms_[root.index].valid()) return;
    terms_[root.index] = add({ClockTerm::variable, out_.variable_count++, {}, {}, true});
  }
  // The term for the root of a chain.
  ClockTermId end(SolverClock t) {
    if (terms_[t.index].valid()) return terms_[t.index];
    if (solver_[t].kind == ClockSolver::Kind::variable) return main_;
    return add({ClockTerm::never, 0, {}, {}, true});
  }
  ClockTermId add(ClockTerm term) {
    out_.terms.push_back(term);
    return ClockTermId{out_.terms.size() - 1};
  }

  NodeClocks& clocks_;
  ClockSolver& solver_;
  ClockedNode& out_;
  std::vector<ClockTermId> terms_;  // the term made for each SolverClock
  ClockTermId main_;
};

// True if callers can name all conditions of the variable's clock; reports an error otherwise.
bool nameable(NodeClocks& clocks, std::uint32_t variable, ClockMessages& messages) {
  ClockSolver& solver = clocks.solver;
  for (SolverClock t = solver.find(clocks.variables[variable]); solver[t].kind == ClockSolver::Kind::on;
       t = solver.find(solver[t].parent)) {
    const std::int32_t named = clocks.conditions[solver[t].condition.id].variable;
    if (named >= 0 && clocks.resolved.variables[static_cast<std::size_t>(named)].kind != Variable::local) continue;
    messages.hidden_condition(variable, solver[t].condition);
    return false;
  }
  return true;
}

}  // namespace

void write_scheme(NodeClocks& clocks, NodeId n, Clocked& out) {
  ClockedNode& node = out.nodes[n.index];
  SchemeWriter writer(clocks, node);
  for (std::size_t v = 0; v < clocks.variables.size(); ++v) node.variable_clocks[v] = writer.term(clocks.variables[v]);
  for (const auto& [e, t] : clocks.exprs) out.expr_clocks[e.index] = writer.term(t);
  for (const auto& [e, variables] : clocks.instantiations) {
    std::vector<ClockTermId>& terms = out.instantiations[e.index];
    terms.clear();
    for (const SolverClock t : variables) terms.push_back(writer.term(t));
  }
}

void check_interface(NodeClocks& clocks, ClockMessages& messages) {
  for (std::uint32_t v = 0; v < clocks.variables.size(); ++v) {
    const Variable& variable = clocks.resolved.variables[v];
    if (variable.kind == Variable::local || !nameable(clocks, v, messages)) continue;
    if (variable.kind == Variable::input && clocks.solver.is_never(clocks.variables[v])) messages.never_present(v);
  }
}

SolverClock instantiated(const ClockedNode& callee, ClockTermId term, const std::vector<SolverClock>& variables,
                         const std::vector<ClockCondition>& conditions, ClockSolver& solver) {
  std::vector<const ClockTerm*> chain;
  while (term.valid() && callee.terms[term.index].kind == ClockTerm::on) {
    chain.push_back(&callee.terms[term.index]);
    term = callee.terms[term.index].parent;
  }
  SolverClock t;
  if (!term.valid())
    t = solver.fresh();
  else if (callee.terms[term.index].kind == ClockTerm::never)
    t = solver.never();
  else
    t = variables[callee.terms[term.index].index];
  for (; !chain.empty(); chain.pop_back()) {
    const ClockTerm& on = *chain.back();
    if (on.condition.variable < 0) return solver.fresh();  // an error was already reported, so any clock is accepted
    ClockCondition c = conditions[static_cast<std::size_t>(on.condition.variable)];
    if (!on.positive) c.positive = !c.positive;
    t = solver.on(t, c);
  }
  return t;
}

bool mentions(const ClockedNode& callee, ClockTermId term, std::uint32_t position) {
  for (; term.valid() && callee.terms[term.index].kind == ClockTerm::on; term = callee.terms[term.index].parent)
    if (callee.terms[term.index].condition.variable == static_cast<std::int32_t>(position)) return true;
  return false;
}

}  // namespace rml
