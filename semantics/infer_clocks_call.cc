// Calls (part of infer_clocks).
//
// A node's call takes fresh clocks for its scheme's variables and replaces the conditions
// of its interface by the caller's: a parameter by the argument's condition, an output by
// the target's. An operator's operands share one clock; its attributes have none.
// Example: `node f(x, c) -> (y)` with y on 'a on c, called as `z = f(u, not d);` gives z the
// clock of u on not d; called with `true` for c it gives z the clock of u.
#include <algorithm>

#include "semantics/infer_clocks_checker.h"
#include "semantics/signature_text.h"

namespace rml {

// The clocks of a call's results. `targets`: the variables its equation defines, null
// inside an expression.
std::vector<SolverClock> ClockChecker::call(ExprId e, const std::vector<std::uint32_t>* targets) {
  const Reference& to = names_.references[e.index];
  if (const auto* node = std::get_if<NodeRef>(&to)) return node_call(e, node->node, targets);
  if (const auto* op = std::get_if<OperatorRef>(&to)) return {operator_call(e, op->op)};
  if (std::holds_alternative<ParamRef>(to)) return {param_call(e)};
  SolverClock result;
  for (ExprId a : names_.arguments[e.index]) result = expr(a);  // stop_gradient: one argument
  return {result.valid() ? result : solver_.fresh()};
}

// param(init) has the clock of init; param(init, act, step) takes its step where act holds.
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
    mismatch(use(arguments[2], found, Place::argument), {{}, wanted, "the step of `param`", Place::operand, -1},
             outcome);
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

// A clock of the callee's interface as the caller sees it.
SolverClock ClockChecker::translate(NodeId callee, ClockTermId term, const std::vector<SolverClock>& variables,
                                    const std::vector<Condition>& conditions) {
  const ClockedNode& clocked = result_.nodes[callee.index];
  std::vector<const ClockTerm*> chain;
  while (term.valid() && clocked.terms[term.index].kind == ClockTerm::on) {
    chain.push_back(&clocked.terms[term.index]);
    term = clocked.terms[term.index].parent;
  }
  SolverClock t;
  if (!term.valid())
    t = solver_.fresh();
  else if (clocked.terms[term.index].kind == ClockTerm::never)
    t = solver_.never();
  else
    t = variables[clocked.terms[term.index].index];
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (chain[i]->condition.variable < 0) return solver_.fresh();  // an error told already
    Condition c = conditions[static_cast<std::size_t>(chain[i]->condition.variable)];
    if (!chain[i]->positive) c.positive = !c.positive;
    t = solver_.on(t, c);
  }
  return t;
}

bool ClockChecker::mentions(NodeId callee, ClockTermId term, std::uint32_t variable) const {
  const ClockedNode& clocked = result_.nodes[callee.index];
  for (; term.valid() && clocked.terms[term.index].kind == ClockTerm::on; term = clocked.terms[term.index].parent)
    if (clocked.terms[term.index].condition.variable == static_cast<std::int32_t>(variable)) return true;
  return false;
}

// A result bound to `_` cannot be named, so no clock that is used may depend on it.
void ClockChecker::check_unnamed(ExprId e, NodeId callee, const std::vector<std::uint32_t>& targets) {
  const ast::Node& item = program_.nodes[callee.index];
  const ClockedNode& clocked = result_.nodes[callee.index];
  const auto& call = std::get<ast::Call>(program_[e]);
  for (std::size_t j = 0; j < item.outputs.size() && j < targets.size(); ++j) {
    if (targets[j] != UINT32_MAX) continue;
    auto hidden = static_cast<std::uint32_t>(item.inputs.size() + j);
    for (std::size_t v = 0; v < item.inputs.size() + item.outputs.size(); ++v) {
      bool unused = v >= item.inputs.size() && targets[v - item.inputs.size()] == UINT32_MAX;
      if (unused || !mentions(callee, clocked.variable_clocks[v], hidden)) continue;
      const ast::Parameter& dependent = v < item.inputs.size() ? item.inputs[v] : item.outputs[v - item.inputs.size()];
      report(Code::E0402, call.callee_span,
             "result `" + program_.text(item.outputs[j].name) + "` of `" + program_.text(item.name) +
                 "` needs a name here: `" + program_.text(dependent.name) + "` is present only when it says so",
             "result " + std::to_string(j + 1) + " is bound to `_`")
          .note("write a variable instead of `_`");
      return;
    }
  }
}

std::vector<SolverClock> ClockChecker::node_call(ExprId e, NodeId callee, const std::vector<std::uint32_t>* targets) {
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
    report(Code::E0209, std::get<ast::Call>(program_[e]).callee_span,
           "what is iterated has all its inputs and results at the same cycles",
           "`" + program_.text(item.name) + "` samples some of them")
        .label(item.name_span, "its interface");
  std::vector<Condition> conditions;
  for (ExprId a : arguments) conditions.push_back(conditions_.of(a));
  for (std::size_t j = 0; j < outputs; ++j) {
    if (!targets)
      conditions.push_back(conditions_.of(e));
    else if (j < targets->size() && (*targets)[j] != UINT32_MAX)
      conditions.push_back(conditions_.of_variable((*targets)[j]));
    else
      conditions.push_back(conditions_.unnamed());
  }
  if (targets) check_unnamed(e, callee, *targets);
  for (std::size_t i = 0; i < inputs; ++i) {
    SolverClock found = expr(arguments[i]);
    if (static_depth_ > 0) continue;
    SolverClock wanted = translate(callee, clocked.variable_clocks[i], variables, conditions);
    auto outcome = solver_.unify(found, wanted, arguments[i]);
    if (outcome == ClockSolver::Outcome::equal) continue;
    std::string name = "parameter `" + program_.text(item.inputs[i].name) + "` of `" + program_.text(item.name) + "`";
    mismatch(use(arguments[i], found, Place::argument), {{}, wanted, name, Place::argument, -1}, outcome);
  }
  for (std::size_t j = 0; j < outputs; ++j)
    results.push_back(translate(callee, clocked.variable_clocks[inputs + j], variables, conditions));
  instantiated_.emplace_back(e, std::move(variables));
  return results;
}

}  // namespace rml
