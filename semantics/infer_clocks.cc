// infer_clocks: at which cycles every expression is present (language.md section 3).
//
// Before: resolved names and dtypes. After: each expression's ClockTerm, each node's clock
// scheme, each call's instantiation of its callee's. This file holds the rules, one per
// form; calls, interfaces and messages are in the files beside it.
// Example: in `o = merge c (x when c) 0.0`, x and c share 'a; `x when c` is on 'a on c, which
// is what the first branch needs; the literal takes 'a on not c; o is on 'a.
#include "semantics/infer_clocks_checker.h"
#include "semantics/signature_text.h"

namespace rml {

ClockChecker::ClockChecker(const Program& program, const Resolved& names, const Typed& types, Diagnostics& diagnostics)
    : program_(program), names_(names), types_(types), diagnostics_(diagnostics), conditions_(program, names) {
  result_.expr_clocks.resize(program.exprs.size());
  result_.instantiations.resize(program.exprs.size());
  result_.nodes.resize(program.nodes.size());
}

Clocked ClockChecker::run() {
  for (NodeId n : names_.order) check_node(n);
  return std::move(result_);
}

namespace {

// Equations that fix clocks first, pointwise ones last.
int rank(const Program& program, const Resolved& names, ExprId e) {
  if (!e.valid()) return 2;
  const ast::Expr& x = program[e];
  if (std::holds_alternative<NodeRef>(names.references[e.index]) || std::holds_alternative<ast::Merge>(x) ||
      std::holds_alternative<ast::When>(x))
    return 0;
  if (std::holds_alternative<ast::Name>(x) || std::holds_alternative<ast::Post>(x)) return 1;
  return 2;
}

}  // namespace

void ClockChecker::check_node(NodeId n) {
  const ResolvedNode& resolved = names_.nodes[n.index];
  const ast::Node& node = program_.nodes[n.index];
  ClockedNode& out = result_.nodes[n.index];
  out.variable_clocks.resize(resolved.variables.size());
  if (resolved.has_errors || types_.nodes[n.index].has_errors) {
    out.has_errors = true;
    return;
  }
  solver_.clear();
  visited_.clear();
  instantiated_.clear();
  node_ = n;
  failed_ = false;
  conditions_.enter(n);
  variables_.clear();
  by_name_.clear();
  for (std::size_t v = 0; v < resolved.variables.size(); ++v) variables_.push_back(solver_.fresh());
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    if (resolved.variables[v].type)
      declare(*resolved.variables[v].type, variables_[v], program_.text(resolved.variables[v].name));
  if (node.external()) check_external(node, resolved);
  std::vector<std::vector<std::uint32_t>> targets(node.equations.size());
  for (std::size_t q = 0; q < node.equations.size(); ++q)
    targets[q].assign(node.equations[q].targets.size(), UINT32_MAX);
  for (std::uint32_t v = 0; v < resolved.variables.size(); ++v)
    if (resolved.variables[v].equation != UINT32_MAX)
      targets[resolved.variables[v].equation][resolved.variables[v].target] = v;
  for (int pass = 0; pass < 3; ++pass)
    for (std::size_t q = 0; q < node.equations.size(); ++q)
      if (rank(program_, names_, node.equations[q].value) == pass) equation(node.equations[q], targets[q]);
  for (const ast::Assert& a : node.asserts) expr(a.condition);
  settle(n);
  if (!failed_) check_interface(n);
  out.has_errors = failed_;
}

// What an external node is told about clocks stands in its interface; the rest of it is one
// pointwise application.
void ClockChecker::check_external(const ast::Node&, const ResolvedNode& resolved) {
  SolverClock common = solver_.fresh();
  for (std::size_t v = 0; v < resolved.variables.size(); ++v)
    if (!resolved.variables[v].type || !resolved.variables[v].type->clock.valid())
      solver_.unify(variables_[v], common, {});
}

void ClockChecker::declare(const ast::TypeAnnotation& type, SolverClock clock, const std::string& name) {
  for (ExprId e : type.shape) static_expr(e);
  if (!type.clock.valid()) return;
  if (by_name_.empty()) {
    const ResolvedNode& resolved = names_.nodes[node_.index];
    for (std::uint32_t v = 0; v < resolved.variables.size(); ++v) by_name_.emplace(resolved.variables[v].name.index, v);
  }
  auto at = by_name_.find(type.clock.index);
  if (at == by_name_.end()) return;  // a constant: the same program for either value
  Condition c = conditions_.of_variable(at->second);
  if (!type.clock_positive) c.positive = !c.positive;
  if (solver_.unify(clock, solver_.on(variables_[at->second], c), {}) == ClockSolver::Outcome::equal) return;
  report(Code::E0403, type.clock_span, "`" + name + "` cannot be present only when " + condition_text(c),
         "the two would be present at different cycles");
}

// ---- equations -------------------------------------------------------------------------

void ClockChecker::equation(const ast::Equation& equation, const std::vector<std::uint32_t>& targets) {
  if (!equation.value.valid()) return;
  std::vector<SolverClock> clocks;
  if (std::holds_alternative<ast::Call>(program_[equation.value])) {
    clocks = call(equation.value, &targets);
    if (!clocks.empty()) visited_.emplace_back(equation.value, clocks[0]);
  } else {
    clocks = {expr(equation.value)};
  }
  for (std::size_t t = 0; t < targets.size() && t < clocks.size(); ++t) {
    const ast::Target& target = equation.targets[t];
    if (targets[t] == UINT32_MAX) {
      if (target.type) declare(*target.type, clocks[t], "_");
      continue;
    }
    const ResolvedNode& resolved = names_.nodes[node_.index];
    if (target.type && resolved.variables[targets[t]].type != &*target.type)
      declare(*target.type, variables_[targets[t]], program_.text(target.name));
    define(targets[t], target, equation.value, clocks[t]);
  }
}

void ClockChecker::define(std::uint32_t variable, const ast::Target& target, ExprId value, SolverClock clock) {
  auto outcome = solver_.unify(variables_[variable], clock, value);
  if (outcome == ClockSolver::Outcome::equal) return;
  const ast::TypeAnnotation* type = names_.nodes[node_.index].variables[variable].type;
  if (type && type->clock.valid() && outcome == ClockSolver::Outcome::different) {
    mismatch_declared(variable, *type, value, clock);
    return;
  }
  Use wanted{{},
             variables_[variable],
             "`" + program_.text(target.name) + "`",
             Place::operand,
             static_cast<std::int32_t>(variable)};
  mismatch(use(value, clock, Place::operand), wanted, outcome);
}

// ---- expressions -----------------------------------------------------------------------

SolverClock ClockChecker::expr(ExprId e) {
  if (!e.valid()) return solver_.fresh();
  SolverClock t = std::visit([&](const auto& f) { return form(e, f); }, program_[e]);
  visited_.emplace_back(e, t);
  return t;
}

// An attribute: its expressions get the clocks their operands have, but nothing is demanded.
void ClockChecker::static_expr(ExprId e) {
  if (!e.valid() || std::holds_alternative<DTypeRef>(names_.references[e.index])) return;
  ++static_depth_;
  expr(e);
  --static_depth_;
}

// One clock for all operands, which is the result's.
SolverClock ClockChecker::joint(ExprId e, const std::vector<ExprId>& operands, Place place) {
  SolverClock common;
  ExprId first;
  bool good = true;
  for (ExprId operand : operands) {
    if (!operand.valid()) continue;
    SolverClock t = expr(operand);
    if (!common.valid()) {
      common = t;
      first = operand;
      continue;
    }
    if (static_depth_ > 0 || !good) continue;
    auto outcome = solver_.unify(common, t, e);
    if (outcome == ClockSolver::Outcome::equal) {
      // A literal says little about the clock it took: blame a better operand next time.
      if (std::holds_alternative<ast::Name>(program_[operand])) first = operand;
      continue;
    }
    mismatch(use(operand, t, place), use(first, common, place), outcome);
    good = false;
  }
  return common.valid() && good ? common : solver_.fresh();
}

SolverClock ClockChecker::form(ExprId e, const ast::Name&) {
  const auto* v = std::get_if<VariableRef>(&names_.references[e.index]);
  if (v && v->variable < variables_.size()) return variables_[v->variable];
  return solver_.fresh();
}

SolverClock ClockChecker::form(ExprId, const ast::Unary& unary) { return expr(unary.operand); }

SolverClock ClockChecker::form(ExprId e, const ast::Binary& binary) {
  return joint(e, {binary.left, binary.right}, Place::operand);
}

SolverClock ClockChecker::form(ExprId e, const ast::If& choice) {
  const SolverClock c = expr(choice.condition);
  const std::pair<ExprId, SolverClock> branches[] = {{choice.then_branch, expr(choice.then_branch)},
                                                     {choice.else_branch, expr(choice.else_branch)}};
  if (static_depth_ > 0 || !choice.condition.valid()) return c;
  // Sampling the condition would make the whole present at fewer cycles: no mend.
  Use first = use(choice.condition, c, Place::condition);
  for (const auto& [branch, found] : branches) {
    if (!branch.valid()) continue;
    const auto outcome = solver_.unify(c, found, e);
    if (outcome == ClockSolver::Outcome::equal) {
      if (std::holds_alternative<ast::Name>(program_[branch])) first = use(branch, c, Place::condition);
      continue;
    }
    if (!report_sampled_branch(e, choice, c, branches[0].second, branches[1].second))
      mismatch(use(branch, found, Place::operand), first, outcome);
    return solver_.fresh();
  }
  return c;
}

SolverClock ClockChecker::form(ExprId e, const ast::Fby& fby) { return joint(e, {fby.init, fby.next}, Place::operand); }

SolverClock ClockChecker::form(ExprId, const ast::Post& post) { return expr(post.operand); }

SolverClock ClockChecker::form(ExprId e, const ast::When& when) {
  SolverClock x = expr(when.operand);
  SolverClock c = expr(when.condition);
  if (static_depth_ > 0 || !when.operand.valid() || !when.condition.valid()) return x;
  auto outcome = solver_.unify(x, c, e);
  if (outcome != ClockSolver::Outcome::equal) {
    mismatch(use(when.operand, x, Place::operand), use(when.condition, c, Place::condition), outcome);
    return solver_.fresh();
  }
  Condition condition = conditions_.of(when.condition);
  if (!when.positive) condition.positive = !condition.positive;
  return solver_.on(c, condition);
}

SolverClock ClockChecker::form(ExprId e, const ast::Merge& merge) {
  SolverClock c = expr(merge.condition);
  SolverClock y = expr(merge.on_true);
  SolverClock z = expr(merge.on_false);
  if (static_depth_ > 0 || !merge.condition.valid()) return c;
  Condition condition = conditions_.of(merge.condition);
  auto branch = [&](ExprId value, SolverClock found, bool positive) {
    if (!value.valid()) return;
    Condition sampled{condition.id, condition.positive == positive};
    SolverClock wanted = solver_.on(c, sampled);
    auto outcome = solver_.unify(found, wanted, e);
    if (outcome == ClockSolver::Outcome::equal) return;
    std::string name = std::string("the ") + (positive ? "true" : "false") + " branch of `merge " +
                       atom_text(program_, merge.condition) + "`";
    mismatch(use(value, found, Place::tight_operand), {{}, wanted, name, Place::operand, -1}, outcome);
  };
  branch(merge.on_true, y, true);
  branch(merge.on_false, z, false);
  return c;
}

SolverClock ClockChecker::form(ExprId e, const ast::Array& array) { return joint(e, array.elements, Place::operand); }

// Plain indexes are streams like the indexed value; the bounds of ranges are static.
SolverClock ClockChecker::form(ExprId e, const ast::Index& index) {
  std::vector<ExprId> operands{index.operand};
  for (const ast::IndexItem& item : index.items) {
    if (item.at.valid()) operands.push_back(item.at);
    static_expr(item.lower);
    static_expr(item.upper);
  }
  return joint(e, operands, Place::tight_operand);
}

SolverClock ClockChecker::form(ExprId e, const ast::Call&) {
  std::vector<SolverClock> results = call(e, nullptr);
  return results.empty() ? solver_.fresh() : results[0];
}

Clocked infer_clocks(const Program& program, const Resolved& names, const Typed& types, Diagnostics& diagnostics) {
  return ClockChecker(program, names, types, diagnostics).run();
}

}  // namespace rml
