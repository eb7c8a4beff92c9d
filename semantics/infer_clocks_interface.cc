// From solved clocks to Clocked, and what an interface may say (part of infer_clocks).
//
// The variables left in a node's interface, numbered in order of appearance, are its clock
// scheme; a variable that is only internal (a counter nobody reads) runs at the node's main
// clock. A clock in the interface may depend only on inputs and outputs, since callers can
// name nothing else.
// Example: `node f(x, c) -> (y) d = c and x > 0.0; y = x when d;` is rejected: y depends on
// the local d, which must become an output.
#include "semantics/infer_clocks_checker.h"
#include "semantics/signature_text.h"

namespace rml {

// The variable that what is not in the interface runs at: the first output's, where an input
// shares it, else the first input's, else the first output's.
SolverClock ClockChecker::main_clock(const ResolvedNode& resolved) {
  SolverClock first_input, first_output;
  std::vector<SolverClock> inputs;
  for (std::size_t v = 0; v < resolved.variables.size(); ++v) {
    SolverClock root = solver_.root(variables_[v]);
    if (solver_[root].kind != ClockSolver::Kind::variable) continue;
    if (resolved.variables[v].kind == Variable::input) {
      if (!first_input.valid()) first_input = root;
      inputs.push_back(root);
    } else if (resolved.variables[v].kind == Variable::output && !first_output.valid()) {
      first_output = root;
    }
  }
  for (SolverClock root : inputs)
    if (root == first_output) return first_output;
  if (first_input.valid()) return first_input;
  if (first_output.valid()) return first_output;
  return solver_.fresh();
}

void ClockChecker::settle(NodeId n) {
  const ResolvedNode& resolved = names_.nodes[n.index];
  ClockedNode& out = result_.nodes[n.index];
  SolverClock main = main_clock(resolved);
  exported_.assign(solver_.size(), ClockTermId{});
  auto enter = [&](SolverClock root) {
    if (solver_[root].kind != ClockSolver::Kind::variable || exported_[root.index].valid()) return;
    exported_[root.index] = ClockTermId{out.terms.size()};
    out.terms.push_back({ClockTerm::variable, out.variable_count++, {}, {}, true});
  };
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    if (resolved.variables[v].kind != Variable::local) enter(solver_.root(variables_[v]));
  enter(main);
  main_variable_ = exported_[main.index].index;
  for (std::size_t v = 0; v < resolved.variables.size(); ++v) out.variable_clocks[v] = exported(out, variables_[v]);
  for (auto& [e, t] : visited_) result_.expr_clocks[e.index] = exported(out, t);
  for (auto& [e, clocks] : instantiated_) {
    std::vector<ClockTermId>& terms = result_.instantiations[e.index];
    terms.clear();
    for (SolverClock t : clocks) terms.push_back(exported(out, t));
  }
}

ClockTermId ClockChecker::exported_end(ClockedNode& out, SolverClock t) {
  if (exported_[t.index].valid()) return exported_[t.index];
  if (solver_[t].kind == ClockSolver::Kind::variable) return ClockTermId{main_variable_};
  out.terms.push_back({ClockTerm::never, 0, {}, {}, true});
  return ClockTermId{out.terms.size() - 1};
}

// t as a term of the node's arena; chains are walked with a loop, outermost last.
ClockTermId ClockChecker::exported(ClockedNode& out, SolverClock t) {
  std::vector<SolverClock> chain;
  t = solver_.find(t);
  if (solver_.is_never(t)) t = solver_.root(t);
  while (!exported_[t.index].valid() && solver_[t].kind == ClockSolver::Kind::on) {
    chain.push_back(t);
    t = solver_.find(solver_[t].parent);
  }
  ClockTermId term = exported_end(out, t);
  exported_[t.index] = term;
  for (std::size_t i = chain.size(); i-- > 0;) {
    Condition c = solver_[chain[i]].condition;
    const ConditionClasses::Class& as = conditions_[c.id];
    out.terms.push_back({ClockTerm::on, 0, term, {as.variable, as.expr}, c.positive == as.positive});
    term = ClockTermId{out.terms.size() - 1};
    exported_[chain[i].index] = term;
  }
  return term;
}

// Whether callers can name everything the variable's clock depends on; says so otherwise.
bool ClockChecker::nameable(NodeId n, std::uint32_t variable) {
  const ResolvedNode& resolved = names_.nodes[n.index];
  const ast::Node& node = program_.nodes[n.index];
  for (SolverClock t = solver_.find(variables_[variable]); solver_[t].kind == ClockSolver::Kind::on;
       t = solver_.find(solver_[t].parent)) {
    const ConditionClasses::Class& c = conditions_[solver_[t].condition.id];
    if (c.variable >= 0 && resolved.variables[static_cast<std::size_t>(c.variable)].kind != Variable::local) continue;
    const Variable& v = resolved.variables[variable];
    std::string name = program_.text(v.name);
    std::string on = condition_text(solver_[t].condition);
    Diagnostic& d = report(Code::E0402, v.span,
                           "`" + name + "` is present only when " + on + ", which callers of `" +
                               program_.text(node.name) + "` cannot name",
                           "its clock depends on more than the interface");
    if (c.variable >= 0) {
      const Variable& condition = resolved.variables[static_cast<std::size_t>(c.variable)];
      std::string output = program_.text(condition.name);
      d.label(condition.span, "`" + output + "` is local");
      d.note("make `" + output + "` an output of `" + program_.text(node.name) + "`, or give `" + name +
             "` at every cycle with `merge`");
      if (!node.outputs.empty()) {
        const ast::Parameter& last = node.outputs.back();
        Span end = last.type ? last.type->span : last.span;
        d.fix({end.file, end.end, end.end}, ", " + output, "make `" + output + "` an output");
      }
    } else {
      d.note("name the condition in an equation and make it an output of `" + program_.text(node.name) + "`");
    }
    return false;
  }
  return true;
}

void ClockChecker::check_interface(NodeId n) {
  const ResolvedNode& resolved = names_.nodes[n.index];
  for (std::uint32_t v = 0; v < resolved.variables.size(); ++v) {
    const Variable& variable = resolved.variables[v];
    if (variable.kind == Variable::local || !nameable(n, v)) continue;
    if (variable.kind != Variable::input || !solver_.is_never(variables_[v])) continue;
    std::string name = program_.text(variable.name);
    ExprId site = solver_[variables_[v]].site;
    Span span = site.valid() ? program_.span(site) : variable.span;
    report(Code::E0404, span, "input `" + name + "` would never be present",
           "here `" + name + "` is combined with what is never present")
        .label(variable.span, "`" + name + "` is declared here")
        .note("what is sampled when `false`, or when not `true`, is never present");
  }
}

}  // namespace rml
