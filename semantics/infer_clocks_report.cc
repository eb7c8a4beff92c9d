// What clock errors say (part of infer_clocks).
//
// Both clocks are told in the user's words, "at every cycle" or "only when `c`". Where one
// stream is present at more cycles than the other, the mend is to sample it: the fix-it
// writes `x when c` for the conditions between the two clocks.
// Example: `di = k * do`, k at every cycle, do only when bp: at `k`, "`k` is present at every
// cycle, `do` only when `bp`", fix `k when bp`.
#include <algorithm>

#include "semantics/infer_clocks_checker.h"
#include "semantics/signature_text.h"

namespace rml {

Diagnostic& ClockChecker::report(Code code, Span span, std::string message, std::string label) {
  failed_ = true;
  return diagnostics_.report(code, span, std::move(message), std::move(label));
}

ClockChecker::Use ClockChecker::use(ExprId e, SolverClock clock, Place place) {
  return {e, clock, "`" + short_text(program_, e) + "`", place, -1};
}

// "`c`", "not `c`", "`a < b`"
std::string ClockChecker::condition_text(Condition c) {
  const ConditionClasses::Class& as = conditions_[c.id];
  std::string text = c.id == 0 ? "true" : as.unnamed ? "the result bound to `_`" : "";
  if (as.variable >= 0)
    text = "`" + program_.text(names_.nodes[node_.index].variables[static_cast<std::size_t>(as.variable)].name) + "`";
  else if (as.expr.valid())
    text = "`" + short_text(program_, as.expr) + "`";
  return (c.positive == as.positive ? "" : "not ") + text;
}

// "at every cycle", "only when `a` and not `b`", "never"
std::string ClockChecker::presence(SolverClock t) {
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

// The conditions that sample `from` down to `to`, outermost first; false if to is not below from.
bool ClockChecker::sampling(SolverClock from, SolverClock to, std::vector<Condition>& conditions) {
  from = solver_.find(from);
  conditions.clear();
  for (to = solver_.find(to); to != from; to = solver_.find(solver_[to].parent)) {
    if (solver_[to].kind != ClockSolver::Kind::on || conditions.size() > 16) return false;
    conditions.push_back(solver_[to].condition);
  }
  std::reverse(conditions.begin(), conditions.end());
  return true;
}

bool ClockChecker::suggest_sampling(Diagnostic& d, const Use& slow, const Use& fast) {
  std::vector<Condition> conditions;
  if (!fast.expr.valid() || fast.expr.index >= program_.written || fast.place == Place::condition) return false;
  const auto* callee = std::get_if<NodeRef>(&names_.references[fast.expr.index]);
  const bool several = callee != nullptr && program_[callee->node].outputs.size() > 1;
  if (several || !sampling(fast.clock, slow.clock, conditions) || conditions.empty()) return false;
  std::string text = sampled_text(program_, fast.expr);
  bool certain = fast.place != Place::argument;
  SolverClock at = fast.clock;
  for (Condition c : conditions) {
    const ConditionClasses::Class& as = conditions_[c.id];
    if (as.unnamed) return false;
    // A condition that is itself to be sampled first: what it is called there, nobody said.
    if (as.variable >= 0 && solver_.root(at) == solver_.root(variables_[static_cast<std::size_t>(as.variable)]) &&
        solver_.find(at) != solver_.find(variables_[static_cast<std::size_t>(as.variable)]))
      return false;
    at = solver_.on(at, c);
    text += c.positive == as.positive ? " when " : " when not ";
    text += as.variable >= 0
                ? program_.text(names_.nodes[node_.index].variables[static_cast<std::size_t>(as.variable)].name)
                : atom_text(program_, as.expr);
    certain = certain && as.variable >= 0;
  }
  if (text.size() > 200) return false;
  std::string replacement = fast.place == Place::tight_operand ? "(" + text + ")" : text;
  d.fix(program_.span(fast.expr), replacement, "write `" + text + "`", certain);
  return true;
}

// Says where a variable's clock was decided, unless that is where the error is.
void ClockChecker::explain(Diagnostic& d, const Use& use) {
  std::int32_t defined = use.variable;
  if (use.expr.valid())
    if (const auto* v = std::get_if<VariableRef>(&names_.references[use.expr.index]))
      defined = static_cast<std::int32_t>(v->variable);
  auto index = static_cast<std::size_t>(defined);
  if (defined < 0 || index >= variables_.size()) return;
  const Variable& variable = names_.nodes[node_.index].variables[index];
  ExprId site = solver_[variables_[index]].site;
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

void ClockChecker::mismatch(const Use& found, const Use& wanted, ClockSolver::Outcome outcome) {
  // The primary place is the operand to be sampled, where there is one.
  std::vector<Condition> between;
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

// `if` with branches sampled as those of `merge` are: that is what was meant, and computes the same.
//
//   if c then (x when c) else 0.0       merge c (x when c) (0.0 when not c)
bool ClockChecker::report_sampled_branch(ExprId e, const ast::If& choice, SolverClock c, SolverClock on_true,
                                         SolverClock on_false) {
  if (!choice.then_branch.valid() || !choice.else_branch.valid()) return false;
  const Condition condition = conditions_.of(choice.condition);
  const bool then_sampled = solver_.find(on_true) == solver_.find(solver_.on(c, condition));
  const bool else_sampled =
      solver_.find(on_false) == solver_.find(solver_.on(c, Condition{condition.id, !condition.positive}));
  if (!then_sampled && !else_sampled) return false;
  const auto fits = [&](bool sampled, SolverClock t) {
    return sampled || solver_.unify(c, t, e) == ClockSolver::Outcome::equal;
  };
  if (!fits(then_sampled, on_true) || !fits(else_sampled, on_false)) return false;
  const Use found = then_sampled ? use(choice.then_branch, on_true, Place::operand)
                                 : use(choice.else_branch, on_false, Place::operand);
  Diagnostic& d = report(Code::E0401, program_.span(found.expr),
                         found.name + " is present " + presence(found.clock) + ", the condition of `if` " + presence(c),
                         "present " + presence(found.clock));
  d.label(program_.span(choice.condition), "present " + presence(c));
  d.note("the branches of `if` are present where its condition is; those of `merge` are sampled by it");
  if (e.index >= program_.written) return true;
  const std::string by = atom_text(program_, choice.condition);
  const auto branch = [&](ExprId of, bool sampled, const char* when) {
    return " (" + (sampled ? expression_text(program_, of) : sampled_text(program_, of) + when + by) + ")";
  };
  const std::string text = "merge " + by + branch(choice.then_branch, then_sampled, " when ") +
                           branch(choice.else_branch, else_sampled, " when not ");
  if (text.size() <= 200)
    d.fix(program_.span(e), text, "write `" + text + "`",
          std::holds_alternative<ast::Name>(program_[choice.condition]));
  return true;
}

void ClockChecker::mismatch_declared(std::uint32_t variable, const ast::TypeAnnotation& type, ExprId value,
                                     SolverClock found) {
  const Variable& v = names_.nodes[node_.index].variables[variable];
  std::string name = "`" + program_.text(v.name) + "`";
  Diagnostic& d = report(
      Code::E0403, type.clock_span,
      name + " is declared present " + presence(variables_[variable]) + ", its equation is present " + presence(found),
      "declared here");
  d.label(program_.span(value), "present " + presence(found));
  Use wanted{{}, variables_[variable], name, Place::operand, -1};
  suggest_sampling(d, wanted, use(value, found, Place::operand));
}

}  // namespace rml
