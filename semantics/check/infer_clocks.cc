// infer_clocks: the cycles at which each expression is present (docs/language.md, "Sometimes:
// when and merge").
//
// Before: resolved names and dtypes. After: each expression's ClockTerm, each node's clock
// scheme, each call's instantiation of its callee's scheme. Programs that combine streams of
// different clocks are rejected. Method: unification (infer_clocks_solver.h) over the equations
// of one node at a time, callees first; the clocks that its interface leaves open form its scheme
// (infer_clocks_scheme.h). Equations that fix clocks (calls, merge, when, copies) are taken
// first, so that a message blames the operator that mixes clocks. This file has the rules, one
// per form.
//
// Example: in `o = merge c (x when c) 0.0`, x and c share 'a; `x when c` is on 'a on c, as the
// first branch requires; the literal gets 'a on not c; o is on 'a.
//
// A call takes fresh clocks for the variables of the node's scheme. It replaces the conditions of
// the interface by the caller's: a parameter by the argument's condition, an output by the
// target's. All operands of an operator have one clock; its attributes have none. Example: `node
// f(x, c) -> (y)` with y on 'a on c, called as `z = f(u, not d);`, gives z the clock of u on not
// d; called with `true` for c, it gives z the clock of u.
#include <algorithm>
#include <unordered_map>

#include "semantics/check/infer_clocks_messages.h"
#include "semantics/check/infer_clocks_node.h"
#include "semantics/check/infer_clocks_scheme.h"
#include "semantics/check/signature_text.h"

namespace rml {

namespace {

// Order of the equations: 0 for those that fix clocks, higher for pointwise ones.
int rank(const Program& program, const Resolved& names, ExprId e) {
  if (!e.valid()) return 2;
  const ast::Expr& x = program[e];
  if (std::holds_alternative<NodeRef>(names.references[e.index]) || std::holds_alternative<ast::Merge>(x) ||
      std::holds_alternative<ast::When>(x))
    return 0;
  if (std::holds_alternative<ast::Name>(x) || std::holds_alternative<ast::Post>(x)) return 1;
  return 2;
}

// Applies the clock rules to one node, whose callees have been checked before.
class ClockChecker {
 public:
  ClockChecker(const Program& program, const Resolved& names, Clocked& result, NodeId n, Diagnostics& diagnostics)
      : program_(program),
        names_(names),
        result_(result),
        id_(n),
        clocks_(program, names, n),
        messages_(program, names, clocks_, diagnostics) {}

  // False if an error was reported.
  bool run();

 private:
  using Place = ClockMessages::Place;
  using Use = ClockMessages::Use;
  // Variables defined by an equation; UINT32_MAX for `_`.
  using Targets = std::vector<std::uint32_t>;

  void external_node();
  void declare(const ast::TypeAnnotation& type, SolverClock clock, const std::string& name);
  void equation(const ast::Equation& equation, const Targets& targets);
  void define(std::uint32_t variable, const ast::Target& target, ExprId value, SolverClock clock);
  SolverClock expr(ExprId e);
  SolverClock form(ExprId e, const ast::Name& name);
  SolverClock form(ExprId, const ast::BoolLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::IntLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::FloatLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId, const ast::TextLiteral&) { return solver_.fresh(); }
  SolverClock form(ExprId e, const ast::Unary& unary);
  SolverClock form(ExprId e, const ast::Binary& binary);
  SolverClock form(ExprId e, const ast::If& choice);
  SolverClock form(ExprId e, const ast::Fby& fby);
  SolverClock form(ExprId e, const ast::Post& post);
  SolverClock form(ExprId e, const ast::When& when);
  SolverClock form(ExprId e, const ast::Merge& merge);
  SolverClock form(ExprId e, const ast::Array& array);
  SolverClock form(ExprId e, const ast::Index& index);
  SolverClock form(ExprId e, const ast::Call& call);
  SolverClock form(ExprId, const ast::Error&) { return solver_.fresh(); }
  bool sampled_branches(ExprId e, const ast::If& choice, SolverClock c, SolverClock on_true, SolverClock on_false);
  bool unsampled_merge(ExprId e, const ast::Merge& merge, SolverClock c, SolverClock on_true, SolverClock on_false);
  bool unsampled_merge(ExprId e, const ast::Merge& merge, SolverClock c);
  void bind_result(const Targets& targets, std::size_t j, SolverClock clock, ExprId e);
  std::string parameter_name(const ast::Node& item, std::size_t i, bool adjoint) const;
  SolverClock joint(ExprId e, const std::vector<ExprId>& operands, Place place);
  void static_expr(ExprId e);
  std::vector<SolverClock> call(ExprId e, const Targets* targets);
  std::vector<SolverClock> node_call(ExprId e, NodeId callee, const Targets* targets);
  std::vector<ClockCondition> interface_conditions(ExprId e, std::size_t outputs, const Targets* targets);
  SolverClock param_call(ExprId e);
  SolverClock operator_call(ExprId e, OperatorId op);
  void check_unnamed(ExprId e, NodeId callee, const Targets& targets);

  const Program& program_;
  const Resolved& names_;
  Clocked& result_;
  const NodeId id_;
  NodeClocks clocks_;
  ClockSolver& solver_ = clocks_.solver;
  ConditionClasses& conditions_ = clocks_.conditions;
  ClockMessages messages_;
  int static_depth_ = 0;  // greater than 0 inside an attribute, where no clocks are unified
  // Maps the name of a variable to its index. Filled at the first use.
  std::unordered_map<std::uint32_t, std::uint32_t> by_name_;
};

bool ClockChecker::run() {
  const ast::Node& node = clocks_.node;
  const std::vector<Variable>& variables = clocks_.resolved.variables;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].type) declare(*variables[v].type, clocks_.variables[v], program_.text(variables[v].name));
  if (node.external()) external_node();
  std::vector<Targets> targets(node.equations.size());
  for (std::size_t q = 0; q < node.equations.size(); ++q)
    targets[q].assign(node.equations[q].targets.size(), UINT32_MAX);
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (variables[v].equation != UINT32_MAX) targets[variables[v].equation][variables[v].target] = v;
  for (int pass = 0; pass < 3; ++pass)
    for (std::size_t q = 0; q < node.equations.size(); ++q)
      if (rank(program_, names_, node.equations[q].value) == pass) equation(node.equations[q], targets[q]);
  for (const ast::Assert& a : node.asserts) expr(a.condition);
  write_scheme(clocks_, id_, result_);
  if (!messages_.any()) check_interface(clocks_, messages_);
  return !messages_.any();
}

// The clocks of an external node are those that its interface declares. The rest of it is one
// pointwise application.
void ClockChecker::external_node() {
  const SolverClock common = solver_.fresh();
  for (std::size_t v = 0; v < clocks_.variables.size(); ++v) {
    const ast::TypeAnnotation* type = clocks_.resolved.variables[v].type;
    if (!type || !type->clock.valid()) solver_.unify(clocks_.variables[v], common, {});
  }
}

void ClockChecker::declare(const ast::TypeAnnotation& type, SolverClock clock, const std::string& name) {
  for (ExprId e : type.shape) static_expr(e);
  if (!type.clock.valid()) return;
  if (by_name_.empty()) {
    const std::vector<Variable>& variables = clocks_.resolved.variables;
    for (std::uint32_t v = 0; v < variables.size(); ++v) by_name_.emplace(variables[v].name.index, v);
  }
  const auto at = by_name_.find(type.clock.index);
  // The condition is a constant: no constraint, because the program is the same for either value.
  if (at == by_name_.end()) return;
  ClockCondition c = conditions_.of_variable(at->second);
  if (!type.clock_positive) c.positive = !c.positive;
  if (solver_.unify(clock, solver_.on(clocks_.variables[at->second], c), {}) != ClockSolver::Outcome::equal)
    messages_.impossible_declaration(name, type, c);
}

// ---- equations -------------------------------------------------------------------------

void ClockChecker::equation(const ast::Equation& equation, const Targets& targets) {
  if (!equation.value.valid()) return;
  std::vector<SolverClock> clocks;
  if (std::holds_alternative<ast::Call>(program_[equation.value])) {
    clocks = call(equation.value, &targets);
    if (!clocks.empty()) clocks_.exprs.emplace_back(equation.value, clocks[0]);
  } else {
    clocks = {expr(equation.value)};
  }
  for (std::size_t t = 0; t < targets.size() && t < clocks.size(); ++t) {
    const ast::Target& target = equation.targets[t];
    if (targets[t] == UINT32_MAX) {
      if (target.type) declare(*target.type, clocks[t], "_");
      continue;
    }
    if (target.type && clocks_.resolved.variables[targets[t]].type != &*target.type)
      declare(*target.type, clocks_.variables[targets[t]], program_.text(target.name));
    define(targets[t], target, equation.value, clocks[t]);
  }
}

void ClockChecker::define(std::uint32_t variable, const ast::Target& target, ExprId value, SolverClock clock) {
  auto outcome = solver_.unify(clocks_.variables[variable], clock, value);
  if (outcome == ClockSolver::Outcome::equal) return;
  if (const auto* merge = std::get_if<ast::Merge>(&program_[value]);
      merge != nullptr && unsampled_merge(value, *merge, clock))
    return;
  const ast::TypeAnnotation* type = clocks_.resolved.variables[variable].type;
  if (type && type->clock.valid() && outcome == ClockSolver::Outcome::different) {
    messages_.mismatch_declared(variable, *type, value, clock);
    return;
  }
  Use wanted{{},
             clocks_.variables[variable],
             "`" + program_.text(target.name) + "`",
             Place::operand,
             static_cast<std::int32_t>(variable)};
  messages_.mismatch(messages_.use(value, clock, Place::operand), wanted, outcome);
}

// ---- expressions -----------------------------------------------------------------------

SolverClock ClockChecker::expr(ExprId e) {
  if (!e.valid()) return solver_.fresh();
  SolverClock t = std::visit([&](const auto& f) { return form(e, f); }, program_[e]);
  clocks_.exprs.emplace_back(e, t);
  return t;
}

// An attribute: its expressions get the clocks of their operands, without constraints.
void ClockChecker::static_expr(ExprId e) {
  if (!e.valid() || std::holds_alternative<DTypeRef>(names_.references[e.index])) return;
  ++static_depth_;
  expr(e);
  --static_depth_;
}

// Unifies the clocks of all operands; the common clock is that of the result.
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
      // A literal has no clock of its own, so a later message rather names this operand.
      if (std::holds_alternative<ast::Name>(program_[operand])) first = operand;
      continue;
    }
    messages_.mismatch(messages_.use(operand, t, place), messages_.use(first, common, place), outcome);
    good = false;
  }
  return common.valid() && good ? common : solver_.fresh();
}

SolverClock ClockChecker::form(ExprId e, const ast::Name&) {
  const auto* v = std::get_if<VariableRef>(&names_.references[e.index]);
  if (v && v->variable < clocks_.variables.size()) return clocks_.variables[v->variable];
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
  // Sampling the condition would make the whole present at fewer cycles, so no fix-it is offered
  // for it.
  Use first = messages_.use(choice.condition, c, Place::condition);
  for (const auto& [branch, found] : branches) {
    if (!branch.valid()) continue;
    const auto outcome = solver_.unify(c, found, e);
    if (outcome == ClockSolver::Outcome::equal) {
      if (std::holds_alternative<ast::Name>(program_[branch])) first = messages_.use(branch, c, Place::condition);
      continue;
    }
    if (!sampled_branches(e, choice, c, branches[0].second, branches[1].second))
      messages_.mismatch(messages_.use(branch, found, Place::operand), first, outcome);
    return solver_.fresh();
  }
  return c;
}

// True if one branch of an `if` on clock c is sampled as in a `merge`, and the other is too or is
// on c. Reports the error then.
bool ClockChecker::sampled_branches(ExprId e, const ast::If& choice, SolverClock c, SolverClock on_true,
                                    SolverClock on_false) {
  if (!choice.then_branch.valid() || !choice.else_branch.valid()) return false;
  const ClockCondition condition = conditions_.of(choice.condition);
  const auto sampled = [&](SolverClock t, bool positive) {
    return solver_.find(t) == solver_.find(solver_.on(c, {condition.id, condition.positive == positive}));
  };
  const ClockMessages::Branch first{choice.then_branch, on_true, sampled(on_true, true)};
  const ClockMessages::Branch second{choice.else_branch, on_false, sampled(on_false, false)};
  if (!first.sampled && !second.sampled) return false;
  const auto fits = [&](const ClockMessages::Branch& b) {
    return b.sampled || solver_.unify(c, b.clock, e) == ClockSolver::Outcome::equal;
  };
  if (!fits(first) || !fits(second)) return false;
  messages_.sampled_branches(e, choice, c, first, second);
  return true;
}

SolverClock ClockChecker::form(ExprId e, const ast::Fby& fby) { return joint(e, {fby.init, fby.next}, Place::operand); }

SolverClock ClockChecker::form(ExprId, const ast::Post& post) { return expr(post.operand); }

SolverClock ClockChecker::form(ExprId e, const ast::When& when) {
  SolverClock x = expr(when.operand);
  SolverClock c = expr(when.condition);
  if (static_depth_ > 0 || !when.operand.valid() || !when.condition.valid()) return x;
  auto outcome = solver_.unify(x, c, e);
  if (outcome != ClockSolver::Outcome::equal) {
    messages_.mismatch(messages_.use(when.operand, x, Place::operand),
                       messages_.use(when.condition, c, Place::condition), outcome);
    return solver_.fresh();
  }
  ClockCondition condition = conditions_.of(when.condition);
  if (!when.positive) condition.positive = !condition.positive;
  return solver_.on(c, condition);
}

SolverClock ClockChecker::form(ExprId e, const ast::Merge& merge) {
  SolverClock c = expr(merge.condition);
  SolverClock y = expr(merge.on_true);
  SolverClock z = expr(merge.on_false);
  if (static_depth_ > 0 || !merge.condition.valid()) return c;
  if (unsampled_merge(e, merge, c, y, z)) return c;
  ClockCondition condition = conditions_.of(merge.condition);
  auto branch = [&](ExprId value, SolverClock found, bool positive) {
    if (!value.valid()) return;
    ClockCondition sampled{condition.id, condition.positive == positive};
    SolverClock wanted = solver_.on(c, sampled);
    auto outcome = solver_.unify(found, wanted, e);
    if (outcome == ClockSolver::Outcome::equal) return;
    std::string name = std::string("the ") + (positive ? "true" : "false") + " branch of `merge " +
                       atom_text(program_, merge.condition) + "`";
    messages_.mismatch(messages_.use(value, found, Place::tight_operand), {{}, wanted, name, Place::operand, -1},
                       outcome);
  };
  branch(merge.on_true, y, true);
  branch(merge.on_false, z, false);
  return c;
}

// Whether a branch of the `merge` on clock c is on c itself, and the other branch is too or is sampled; reports it
// then. A branch whose clock is not known yet counts as sampled, unless it is a memory: that is Lustre's `current`.
bool ClockChecker::unsampled_merge(ExprId e, const ast::Merge& merge, SolverClock c, SolverClock on_true,
                                   SolverClock on_false) {
  if (!merge.on_true.valid() || !merge.on_false.valid()) return false;
  const ClockCondition condition = conditions_.of(merge.condition);
  const auto wanted = [&](bool positive) { return solver_.on(c, {condition.id, condition.positive == positive}); };
  // Where the condition is constant, the clock c is that of the samples.
  const auto on_base = [&](SolverClock t, bool positive) {
    return solver_.find(t) == solver_.find(c) && solver_.find(t) != solver_.find(wanted(positive));
  };
  if (!on_base(on_true, true) && !on_base(on_false, false)) return false;
  const auto branch = [&](ExprId value, SolverClock t, bool positive) -> std::optional<ClockMessages::Branch> {
    if (on_base(t, positive)) return ClockMessages::Branch{value, t, false};
    if (solver_.find(t) == solver_.find(wanted(positive))) return ClockMessages::Branch{value, t, true};
    if (solver_[solver_.find(t)].kind == ClockSolver::Kind::on) return std::nullopt;
    return ClockMessages::Branch{value, t, !std::holds_alternative<ast::Fby>(program_[value])};
  };
  const auto first = branch(merge.on_true, on_true, true), second = branch(merge.on_false, on_false, false);
  if (!first || !second) return false;
  messages_.unsampled_merge(e, merge, *first, *second);
  return true;
}

// Like the function above, for a `merge` whose result does not fit the clocks of its branches: an
// input whose type has no clock, and a memory, count as not sampled.
bool ClockChecker::unsampled_merge(ExprId e, const ast::Merge& merge, SolverClock c) {
  const auto is_sampled = [&](ExprId value) {
    if (std::holds_alternative<ast::Fby>(program_[value])) return false;
    const auto* v = std::get_if<VariableRef>(&names_.references[value.index]);
    if (v == nullptr) return true;
    const Variable& variable = clocks_.resolved.variables[v->variable];
    return variable.kind != Variable::input || variable.type == nullptr || variable.type->clock.valid();
  };
  if (!merge.on_true.valid() || !merge.on_false.valid()) return false;
  const ClockMessages::Branch on_true{merge.on_true, c, is_sampled(merge.on_true)};
  const ClockMessages::Branch on_false{merge.on_false, c, is_sampled(merge.on_false)};
  if (on_true.sampled && on_false.sampled) return false;
  messages_.unsampled_merge(e, merge, on_true, on_false);
  return true;
}

SolverClock ClockChecker::form(ExprId e, const ast::Array& array) { return joint(e, array.elements, Place::operand); }

// Plain indices are streams like the indexed value; the bounds of ranges are static.
SolverClock ClockChecker::form(ExprId e, const ast::Index& index) {
  std::vector<ExprId> operands{index.operand};
  for (const ast::IndexItem& item : index.items) {
    if (item.at.valid()) operands.push_back(item.at);
    static_expr(item.lower);
    static_expr(item.upper);
    static_expr(item.step);
  }
  return joint(e, operands, Place::tight_operand);
}

SolverClock ClockChecker::form(ExprId e, const ast::Call&) {
  std::vector<SolverClock> results = call(e, nullptr);
  return results.empty() ? solver_.fresh() : results[0];
}

// ---- calls -----------------------------------------------------------------------------

// The clocks of a call's results. `targets`: the variables that its equation defines; null inside
// an expression.
std::vector<SolverClock> ClockChecker::call(ExprId e, const Targets* targets) {
  const Reference& to = names_.references[e.index];
  if (const auto* node = std::get_if<NodeRef>(&to)) return node_call(e, node->node, targets);
  if (const auto* op = std::get_if<OperatorRef>(&to)) return {operator_call(e, op->op)};
  if (std::holds_alternative<ParamRef>(to)) return {param_call(e)};
  SolverClock result;
  for (ExprId a : names_.arguments[e.index]) result = expr(a);  // a call of stop_gradient has one argument
  return {result.valid() ? result : solver_.fresh()};
}

// param(init) has the clock of init. param(init, act, step) takes its step where act holds.
SolverClock ClockChecker::param_call(ExprId e) {
  const OrderedArguments& arguments = names_.arguments[e.index];
  if (arguments.empty()) return solver_.fresh();
  if (arguments.size() < 3 || !arguments[1].valid() || !arguments[2].valid()) return expr(arguments[0]);
  const SolverClock result = joint(e, {arguments[0], arguments[1]}, Place::operand);
  const SolverClock found = expr(arguments[2]);
  if (static_depth_ > 0) return result;
  const SolverClock wanted = solver_.on(result, conditions_.of(arguments[1]));
  const auto outcome = solver_.unify(found, wanted, e);
  if (outcome != ClockSolver::Outcome::equal)
    messages_.mismatch(messages_.use(arguments[2], found, Place::argument),
                       {{}, wanted, "the step of `param`", Place::operand, -1}, outcome);
  return result;
}

SolverClock ClockChecker::operator_call(ExprId e, OperatorId op) {
  const OperatorInfo& row = operators()[op];
  const OrderedArguments& arguments = names_.arguments[e.index];
  std::vector<ExprId> operands;
  std::size_t k = 0;
  std::size_t extra = arguments.size() > row.parameters.size() ? arguments.size() - row.parameters.size() : 0;
  for (const OperatorParameter& p : row.parameters) {
    for (std::size_t end = k + 1 + (p.variadic ? extra : 0); k < end && k < arguments.size(); ++k) {
      if (p.kind == ParameterKind::operand)
        operands.push_back(arguments[k]);
      else
        static_expr(arguments[k]);
    }
  }
  return joint(e, operands, Place::operand);
}

// A result bound to `_` has no name, so no clock that is used may depend on it.
void ClockChecker::check_unnamed(ExprId e, NodeId callee, const Targets& targets) {
  const ast::Node& item = program_.nodes[callee.index];
  const ClockedNode& clocked = result_.nodes[callee.index];
  const auto& call = std::get<ast::Call>(program_[e]);
  for (std::size_t j = 0; j < item.outputs.size() && j < targets.size(); ++j) {
    if (targets[j] != UINT32_MAX) continue;
    auto hidden = static_cast<std::uint32_t>(item.inputs.size() + j);
    for (std::size_t v = 0; v < item.inputs.size() + item.outputs.size(); ++v) {
      bool unused = v >= item.inputs.size() && targets[v - item.inputs.size()] == UINT32_MAX;
      if (unused || !mentions(clocked, clocked.variable_clocks[v], hidden)) continue;
      const ast::Parameter& dependent = v < item.inputs.size() ? item.inputs[v] : item.outputs[v - item.inputs.size()];
      messages_.unnamed_result(call, item, j, dependent);
      return;
    }
  }
}

// The caller's conditions for the positions of the callee's interface. A result without a name
// equals no other condition.
std::vector<ClockCondition> ClockChecker::interface_conditions(ExprId e, std::size_t outputs, const Targets* targets) {
  std::vector<ClockCondition> conditions;
  for (ExprId a : names_.arguments[e.index]) conditions.push_back(conditions_.of(a));
  for (std::size_t j = 0; j < outputs; ++j) {
    if (!targets)
      conditions.push_back(conditions_.of(e));
    else if (j < targets->size() && (*targets)[j] != UINT32_MAX)
      conditions.push_back(conditions_.of_variable((*targets)[j]));
    else
      conditions.push_back(conditions_.unnamed());
  }
  return conditions;
}

// Gives the variable of result j its clock, so that a mismatch is reported elsewhere.
void ClockChecker::bind_result(const Targets& targets, std::size_t j, SolverClock clock, ExprId e) {
  if (j < targets.size() && targets[j] != UINT32_MAX) solver_.unify(clocks_.variables[targets[j]], clock, e);
}

std::string ClockChecker::parameter_name(const ast::Node& item, std::size_t i, bool adjoint) const {
  const Symbol of = item.derived_from.valid() ? program_[item.derived_from].name : item.name;
  return (adjoint ? "the adjoint `" : "parameter `") + program_.text(item.inputs[i].name) + "` of `" +
         program_.text(of) + "`";
}

std::vector<SolverClock> ClockChecker::node_call(ExprId e, NodeId callee, const Targets* targets) {
  const ast::Node& item = program_.nodes[callee.index];
  const ClockedNode& clocked = result_.nodes[callee.index];
  const OrderedArguments& arguments = names_.arguments[e.index];
  std::vector<SolverClock> results;
  const std::size_t inputs = item.inputs.size(), outputs = item.outputs.size();
  if (clocked.has_errors || arguments.size() != inputs || clocked.variable_clocks.size() < inputs + outputs) {
    for (ExprId a : arguments) expr(a);
    for (std::size_t j = 0; j < outputs; ++j) results.push_back(solver_.fresh());
    return results;
  }
  std::vector<SolverClock> variables;
  const bool iterated = std::get<ast::Call>(program_[e]).iteration.has_value();
  for (std::uint32_t i = 0; i < clocked.variable_count; ++i)
    variables.push_back(iterated && i > 0 ? variables[0] : solver_.fresh());
  const auto plain = [&](ClockTermId t) { return !t.valid() || clocked.terms[t.index].kind == ClockTerm::variable; };
  if (iterated && !std::all_of(clocked.variable_clocks.begin(),
                               clocked.variable_clocks.begin() + static_cast<std::ptrdiff_t>(inputs + outputs), plain))
    messages_.not_iterable(std::get<ast::Call>(program_[e]), item);
  const std::vector<ClockCondition> conditions = interface_conditions(e, outputs, targets);
  if (targets) check_unnamed(e, callee, *targets);
  // Of a derivative the results come before the adjoints, which are computed from them: a mismatch is then the
  // adjoint's.
  const std::size_t primal = item.derived_from.valid() ? program_[item.derived_from].inputs.size() : inputs;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (i == primal + 1 && targets != nullptr) {
      for (std::size_t j = 0; j < outputs; ++j)
        bind_result(*targets, j,
                    instantiated(clocked, clocked.variable_clocks[inputs + j], variables, conditions, solver_), e);
    }
    SolverClock found = expr(arguments[i]);
    if (static_depth_ > 0) continue;
    SolverClock wanted = instantiated(clocked, clocked.variable_clocks[i], variables, conditions, solver_);
    auto outcome = solver_.unify(found, wanted, arguments[i]);
    if (outcome == ClockSolver::Outcome::equal) continue;
    messages_.mismatch(messages_.use(arguments[i], found, Place::argument),
                       {{}, wanted, parameter_name(item, i, i > primal), Place::argument, -1}, outcome);
  }
  for (std::size_t j = 0; j < outputs; ++j)
    results.push_back(instantiated(clocked, clocked.variable_clocks[inputs + j], variables, conditions, solver_));
  clocks_.instantiations.emplace_back(e, std::move(variables));
  return results;
}

}  // namespace

Clocked infer_clocks(const Program& program, const Resolved& names, const Typed& types, Diagnostics& diagnostics) {
  Clocked result;
  result.expr_clocks.resize(program.exprs.size());
  result.instantiations.resize(program.exprs.size());
  result.nodes.resize(program.nodes.size());
  for (const NodeId n : names.order) {
    ClockedNode& node = result.nodes[n.index];
    node.variable_clocks.resize(names.nodes[n.index].variables.size());
    node.has_errors = names.nodes[n.index].has_errors || types.nodes[n.index].has_errors ||
                      !ClockChecker(program, names, result, n, diagnostics).run();
  }
  return result;
}

}  // namespace rml
