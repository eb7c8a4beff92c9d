// Messages about clocks: both clocks, the place where each was determined, and a fix-it if there
// is one.
#include "semantics/check/infer_clocks_messages.h"

#include <algorithm>

#include "semantics/check/signature_text.h"
#include "semantics/check/syntax.h"

namespace rml {

Diagnostic& ClockMessages::report(Code code, Span span, std::string message, std::string label) {
  any_ = true;
  return diagnostics_.report(code, span, std::move(message), std::move(label));
}

const std::string& ClockMessages::variable_name(std::int32_t variable) const {
  return program_.text(clocks_.resolved.variables[static_cast<std::size_t>(variable)].name);
}

ClockMessages::Use ClockMessages::use(ExprId e, SolverClock clock, Place place) const {
  return {e, clock, "`" + short_text(program_, e) + "`", place, -1};
}

// A condition as text: "`c`", "not `c`", "`a < b`".
std::string ClockMessages::condition_text(ClockCondition c) const {
  const ConditionClasses::Class& as = conditions_[c.id];
  std::string text = c.id == 0 ? "true" : as.unnamed ? "the result bound to `_`" : "";
  if (as.variable >= 0)
    text = "`" + variable_name(as.variable) + "`";
  else if (as.expr.valid())
    text = "`" + short_text(program_, as.expr) + "`";
  return (c.positive == as.positive ? "" : "not ") + text;
}

// A clock as text: "at every cycle", "only when `a` and not `b`", "never".
std::string ClockMessages::presence(SolverClock t) {
  if (solver_.is_never(t)) return "never";
  std::vector<std::string> conditions;
  for (t = solver_.find(t); solver_[t].kind == ClockSolver::Kind::on; t = solver_.find(solver_[t].parent)) {
    if (conditions.size() == 5) {
      conditions.push_back("…");
      break;
    }
    conditions.push_back(condition_text(solver_[t].condition));
  }
  if (conditions.empty()) return "at every cycle";
  std::string text = "only when ";
  for (std::size_t i = conditions.size(); i-- > 0;) text += conditions[i] + (i > 0 ? " and " : "");
  return text;
}

// Finds the conditions that sample `from` down to `to`, outermost first. False if `to` is not a
// sampling of `from`.
bool ClockMessages::sampling(SolverClock from, SolverClock to, std::vector<ClockCondition>& conditions) {
  from = solver_.find(from);
  conditions.clear();
  for (to = solver_.find(to); to != from; to = solver_.find(solver_[to].parent)) {
    if (solver_[to].kind != ClockSolver::Kind::on || conditions.size() > 16) return false;
    conditions.push_back(solver_[to].condition);
  }
  std::reverse(conditions.begin(), conditions.end());
  return true;
}

bool ClockMessages::suggest_sampling(Diagnostic& d, const Use& slow, const Use& fast) {
  std::vector<ClockCondition> conditions;
  if (!fast.expr.valid() || fast.expr.index >= program_.written || fast.place == Place::condition) return false;
  const auto* callee = std::get_if<NodeRef>(&names_.references[fast.expr.index]);
  const bool several = callee != nullptr && program_[callee->node].outputs.size() > 1;
  if (several || !sampling(fast.clock, slow.clock, conditions) || conditions.empty()) return false;
  std::string text = sampled_text(program_, fast.expr);
  bool certain = fast.place != Place::argument;
  SolverClock at = fast.clock;
  for (ClockCondition c : conditions) {
    const ConditionClasses::Class& as = conditions_[c.id];
    if (as.unnamed) return false;
    // The condition would have to be sampled first, and the sampled condition has no name.
    if (as.variable >= 0 &&
        solver_.root(at) == solver_.root(clocks_.variables[static_cast<std::size_t>(as.variable)]) &&
        solver_.find(at) != solver_.find(clocks_.variables[static_cast<std::size_t>(as.variable)]))
      return false;
    at = solver_.on(at, c);
    text += c.positive == as.positive ? " when " : " when not ";
    text += as.variable >= 0 ? variable_name(as.variable) : atom_text(program_, as.expr);
    certain = certain && as.variable >= 0;
  }
  if (text.size() > 200) return false;
  std::string replacement = fast.place == Place::tight_operand ? "(" + text + ")" : text;
  d.fix(program_.span(fast.expr), replacement, "write `" + text + "`", certain);
  return true;
}

// Adds the place where a variable's clock was determined, unless that is the place of the error.
void ClockMessages::explain(Diagnostic& d, const Use& use) {
  std::int32_t defined = use.variable;
  if (use.expr.valid())
    if (const auto* v = std::get_if<VariableRef>(&names_.references[use.expr.index]))
      defined = static_cast<std::int32_t>(v->variable);
  auto index = static_cast<std::size_t>(defined);
  if (defined < 0 || index >= clocks_.variables.size()) return;
  const Variable& variable = clocks_.resolved.variables[index];
  ExprId site = solver_[clocks_.variables[index]].site;
  Span span = site.valid() ? program_.span(site) : variable.span;
  if (span == d.primary.span) return;
  for (const Label& l : d.secondary)
    if (l.span == span) return;
  std::string name = "`" + program_.text(variable.name) + "`";
  if (site.valid())
    d.label(span, name + " gets its clock here");
  else
    d.label(span, name + " is " + (variable.kind == Variable::input ? "an input" : "defined here"));
}

void ClockMessages::mismatch(const Use& found, const Use& wanted, ClockSolver::Outcome outcome) {
  if (outcome == ClockSolver::Outcome::cyclic && sampled_by_merge(found.clock, wanted.clock)) return;
  // The primary place is the operand to be sampled, if there is one.
  std::vector<ClockCondition> between;
  bool swap = wanted.expr.valid() && sampling(wanted.clock, found.clock, between);
  const Use& first = swap ? wanted : found;
  const Use& second = swap ? found : wanted;
  Span span = program_.span(first.expr);
  std::string where = second.expr.valid() ? "present " : "needed ";
  std::string message = first.name +
                        (solver_.is_never(first.clock) ? " is never present" : " is present " + presence(first.clock)) +
                        ", " + second.name + " " + presence(second.clock);
  bool never = outcome == ClockSolver::Outcome::never;
  Diagnostic& d = report(never ? Code::E0404 : Code::E0401, span, message,
                         solver_.is_never(first.clock) ? "never present" : "present " + presence(first.clock));
  if (second.expr.valid()) d.label(program_.span(second.expr), where + presence(second.clock));
  explain(d, first);
  explain(d, second);
  if (never) {
    d.note("a condition that is the constant false never holds");
    return;
  }
  if (!suggest_sampling(d, second, first))
    d.note("only streams present at the same cycles can be combined: `when` samples, `merge` joins");
}

void ClockMessages::mismatch_declared(std::uint32_t variable, const ast::TypeAnnotation& type, ExprId value,
                                      SolverClock found) {
  const Variable& v = clocks_.resolved.variables[variable];
  std::string name = "`" + program_.text(v.name) + "`";
  Diagnostic& d = report(Code::E0403, type.clock_span,
                         name + " is declared present " + presence(clocks_.variables[variable]) +
                             ", its equation is present " + presence(found),
                         "declared here");
  d.label(program_.span(value), "present " + presence(found));
  Use wanted{{}, clocks_.variables[variable], name, Place::operand, -1};
  suggest_sampling(d, wanted, use(value, found, Place::operand));
}

void ClockMessages::impossible_declaration(const std::string& name, const ast::TypeAnnotation& type,
                                           ClockCondition condition) {
  report(Code::E0403, type.clock_span, "`" + name + "` cannot be present only when " + condition_text(condition),
         "its equation is present at other cycles");
}

void ClockMessages::sampled_branches(ExprId e, const ast::If& choice, SolverClock c, const Branch& on_true,
                                     const Branch& on_false) {
  const Branch& first = on_true.sampled ? on_true : on_false;
  const Use found = use(first.expr, first.clock, Place::operand);
  Diagnostic& d = report(Code::E0401, program_.span(found.expr),
                         found.name + " is present " + presence(found.clock) + ", the condition of `if` " + presence(c),
                         "present " + presence(found.clock));
  d.label(program_.span(choice.condition), "present " + presence(c));
  d.note("the branches of `if` must be present at the cycles of its condition; those of `merge` are sampled by it");
  if (e.index >= program_.written) return;
  const std::string by = atom_text(program_, choice.condition);
  const auto branch = [&](const Branch& b, const char* when) {
    return " (" + (b.sampled ? expression_text(program_, b.expr) : sampled_text(program_, b.expr) + when + by) + ")";
  };
  const std::string text = "merge " + by + branch(on_true, " when ") + branch(on_false, " when not ");
  if (text.size() <= 200)
    d.fix(program_.span(e), text, "write `" + text + "`",
          std::holds_alternative<ast::Name>(program_[choice.condition]));
}

void ClockMessages::unsampled_merge(ExprId e, const ast::Merge& merge, const Branch& on_true, const Branch& on_false) {
  const bool is_first = !on_true.sampled;
  const Branch& blamed = is_first ? on_true : on_false;
  const std::string by = atom_text(program_, merge.condition);
  const std::string always = presence(blamed.clock);
  Diagnostic& d = report(Code::E0401, program_.span(blamed.expr),
                         "`" + short_text(program_, blamed.expr) + "` is present " + always + ", the " +
                             (is_first ? "true" : "false") + " branch of `merge " + by + "` only when " +
                             (is_first ? "" : "not ") + "`" + by + "`",
                         "present " + always);
  const auto branch = [&](const Branch& b, const char* when) {
    return " (" + (b.sampled ? expression_text(program_, b.expr) : sampled_text(program_, b.expr) + when + by) + ")";
  };
  const auto simple = [&](const Branch& b, const char* when) {
    const auto& x = program_[b.expr];
    const bool atom = std::holds_alternative<ast::Name>(x) || std::holds_alternative<ast::FloatLiteral>(x) ||
                      std::holds_alternative<ast::IntLiteral>(x) || std::holds_alternative<ast::BoolLiteral>(x);
    return b.sampled && atom ? " " + expression_text(program_, b.expr) : branch(b, when);
  };
  if (e.index >= program_.written) return;
  const std::string text = "merge " + by + simple(on_true, " when ") + simple(on_false, " when not ");
  if (text.size() <= 200)
    d.fix(program_.span(e), text, "write `" + text + "`", std::holds_alternative<ast::Name>(program_[merge.condition]));
  if (on_true.sampled || on_false.sampled) return;
  const std::string choice = "if " + by + " then " + expression_text(program_, on_true.expr) + " else " +
                             expression_text(program_, on_false.expr);
  if (choice.size() <= 200) d.note("if both branches are present at every cycle, write `" + choice + "`");
}

bool ClockMessages::sampled_by_merge(std::uint32_t variable) {
  const Variable& v = clocks_.resolved.variables[variable];
  const ExprId site = solver_[clocks_.variables[variable]].site;
  const auto* merge = site.valid() ? std::get_if<ast::Merge>(&program_[site]) : nullptr;
  const SolverClock clock = solver_.find(clocks_.variables[variable]);
  if (merge == nullptr || solver_[clock].kind != ClockSolver::Kind::on) return false;
  if (v.type != nullptr && v.type->clock.valid()) return false;
  const auto branch = [&](ExprId e) {
    const auto* read = std::get_if<VariableRef>(&names_.references[e.index]);
    return Branch{e, solver_[clock].parent, read == nullptr || read->variable != variable};
  };
  const Branch on_true = branch(merge->on_true), on_false = branch(merge->on_false);
  if (on_true.sampled && on_false.sampled) return false;
  unsampled_merge(site, *merge, on_true, on_false);
  return true;
}

bool ClockMessages::sampled_by_merge(SolverClock a, SolverClock b) {
  for (std::uint32_t v = 0; v < clocks_.variables.size(); ++v) {
    const SolverClock clock = solver_.find(clocks_.variables[v]);
    if ((clock == solver_.find(a) || clock == solver_.find(b)) && sampled_by_merge(v)) return true;
  }
  return false;
}

void ClockMessages::unnamed_result(const ast::Call& call, const ast::Node& callee, std::size_t j,
                                   const ast::Parameter& dependent) {
  report(Code::E0402, call.callee_span,
         "result `" + program_.text(callee.outputs[j].name) + "` of `" + program_.text(callee.name) +
             "` needs a name here: `" + program_.text(dependent.name) + "` is sampled by this result",
         "result " + std::to_string(j + 1) + " is bound to `_`")
      .note("write a variable instead of `_`");
}

void ClockMessages::not_iterable(const ast::Call& call, const ast::Node& callee) {
  report(Code::E0209, call.callee_span, "an iterated node must have all its inputs and results at the same cycles",
         "`" + program_.text(callee.name) + "` samples some of them")
      .label(callee.name_span, "its interface");
}

void ClockMessages::hidden_condition(std::uint32_t variable, ClockCondition condition) {
  const ast::Node& node = clocks_.node;
  const Variable& v = clocks_.resolved.variables[variable];
  const std::string name = program_.text(v.name), of = program_.text(node.name);
  if (node.derived_from.valid() && unsampled_rate(v)) return;
  if (sampled_by_merge(variable)) return;
  Diagnostic& d = report(Code::E0402, v.span,
                         "`" + name + "` is present only when " + condition_text(condition) + ", which callers of `" +
                             of + "` cannot name",
                         "its clock depends on a name outside the interface");
  const std::int32_t named = conditions_[condition.id].variable;
  if (named < 0) {
    d.note("name the condition in an equation and make it an output of `" + of + "`");
    return;
  }
  const std::string output = variable_name(named);
  d.label(clocks_.resolved.variables[static_cast<std::size_t>(named)].span, "`" + output + "` is local");
  d.note("make `" + output + "` an output of `" + of + "`, or make `" + name + "` present at every cycle with `merge`");
  if (node.outputs.empty()) return;
  const ast::Parameter& last = node.outputs.back();
  const Span end = last.type ? last.type->span : last.span;
  d.fix({end.file, end.end, end.end}, ", " + output, "make `" + output + "` an output");
}

bool ClockMessages::unsampled_rate(const Variable& v) {
  const ast::Node* optimizer = nullptr;
  std::size_t at = 0;
  for (const ast::Equation& equation : clocks_.node.equations) {
    const auto* call = std::get_if<ast::Call>(&program_[equation.value]);
    if (call == nullptr || !call->target.valid() || program_[call->target].derived_from.valid()) continue;
    for (std::size_t k = 0; k + 3 < call->arguments.size(); ++k) {
      const auto* given = std::get_if<ast::Name>(&program_[call->arguments[k].value]);
      if (given != nullptr && given->symbol == v.name) optimizer = &program_[call->target], at = k;
    }
  }
  if (optimizer == nullptr) return false;
  const ast::Parameter& rate = optimizer->inputs[at];
  const std::string name = program_.text(rate.name), of = program_.text(optimizer->name);
  const std::string act = program_.text(optimizer->inputs[optimizer->inputs.size() - 3].name);
  Diagnostic& d =
      report(Code::E0402, rate.span,
             "`" + name + "` of the optimizer `" + of + "` is used as if it were present only when `" + act + "`",
             "an argument of `diff[" + of + "(…)]` is present at every cycle");
  d.label(clocks_.node.name_span, "parameters of this node are updated at cycles that its callers cannot name");
  if (rate.type && rate.type->clock.valid()) return true;
  const std::string sampled = "(" + name + " when " + act + ")";
  std::vector<ExprId> parts;
  for (const ast::Equation& equation : optimizer->equations) parts.push_back(equation.value);
  while (!parts.empty()) {
    const ExprId part = parts.back();
    parts.pop_back();
    const auto* use = std::get_if<ast::Name>(&program_[part]);
    if (use != nullptr && use->symbol == rate.name && !use->qualifier.valid())
      d.fix(program_.span(part), sampled, "write `" + sampled + "`", true);
    if (!std::holds_alternative<ast::When>(program_[part]))
      for_each_child(program_[part], [&](ExprId child) { parts.push_back(child); });
  }
  return true;
}

void ClockMessages::never_present(std::uint32_t input) {
  const Variable& variable = clocks_.resolved.variables[input];
  const std::string name = program_.text(variable.name);
  const ExprId site = solver_[clocks_.variables[input]].site;
  report(Code::E0404, site.valid() ? program_.span(site) : variable.span, "input `" + name + "` would never be present",
         "here `" + name + "` is combined with a stream that is never present")
      .label(variable.span, "`" + name + "` is declared here")
      .note("a stream that is sampled with `when false` or `when not true` is never present");
}

}  // namespace rml
