// Collects the conditions of the node's clocks by class, and gives each class and clock one name.
#include "semantics/differentiate/conditions.h"

#include <algorithm>

namespace rml::derivation {

Conditions::Conditions(const NodeFacts& node, GradientWriter& write)
    : node_(node), write_(write), classes_(node.program, node.checked.names) {
  classes_.enter(node.key.node);
  for (const ast::Equation& q : node.node.equations) collect(q.value);
}

void Conditions::collect(ExprId e) {
  const auto add = [&](ExprId condition) {
    condition = without_not(condition);
    if (!node_.is_name(condition)) unnamed_.push_back(condition);
  };
  const ast::Expr& x = node_.expr(e);
  if (const auto* w = std::get_if<ast::When>(&x)) add(w->condition);
  if (const auto* m = std::get_if<ast::Merge>(&x)) add(m->condition);
  if (const auto* g = std::get_if<NodeRef>(&node_.reference(e))) {
    const OrderedArguments& arguments = node_.checked.names.arguments[e.index];
    for (const ClockTerm& t : node_.checked.clocks.nodes[g->node.index].terms) {
      const auto v = static_cast<std::size_t>(t.condition.variable);
      if (t.kind == ClockTerm::on && t.condition.variable >= 0 && v < arguments.size()) add(arguments[v]);
    }
  }
  for_each_child(x, [&](ExprId part) { collect(part); });
}

ExprId Conditions::without_not(ExprId e) const {
  for (;;) {
    const auto* u = std::get_if<ast::Unary>(&node_.expr(e));
    if (u == nullptr || u->op != UnaryOp::logical_not) return e;
    e = u->operand;
  }
}

Symbol Conditions::named(ExprId e) {
  const ExprId inner = without_not(e);
  if (!node_.is_name(inner) && !write_.is_hoisted(inner)) {
    const Symbol s = write_.hoist(inner);
    const ClockCondition same = classes_.of(inner);
    const auto& clocks = node_.checked.clocks.expr_clocks;
    for (const ExprId other : unnamed_)
      if (classes_.of(other) == same && is_same_clock(clocks[inner.index], clocks[other.index]))
        write_.write_as(other, s);
  }
  const Symbol s = write_.named(e);
  if (const ClockCondition c = classes_.of(e); c.constant()) constants_.emplace(s, c.positive);
  return s;
}

std::vector<Sampling> Conditions::down_to(ClockTermId clock) {
  std::vector<Sampling> list;
  for (const ClockTerm* t : samplings_of(node_.clocks, clock)) {
    if (t->condition.variable >= 0) {
      const auto [v, positive] = variable_on_the_way(static_cast<std::uint32_t>(t->condition.variable), t->parent);
      const Symbol c = brought_down(node_.names.variables[v].name, node_.clocks, v, list);
      list.push_back({c, t->positive == positive});
    } else {
      list.push_back({named(t->condition.expr), t->positive});
    }
  }
  return list;
}

std::pair<std::uint32_t, bool> Conditions::variable_on_the_way(std::uint32_t variable, ClockTermId clock) {
  const auto is_on_the_way = [&](std::uint32_t v) {
    const auto& terms = node_.clocks.terms;
    ClockTermId at = clock;
    while (!is_same_clock(node_.clocks.variable_clocks[v], at)) {
      if (terms[at.index].kind != ClockTerm::on) return false;
      at = terms[at.index].parent;
    }
    return true;
  };
  if (is_on_the_way(variable)) return {variable, true};
  const ClockCondition wanted = classes_.of_variable(variable);
  for (std::uint32_t v = 0; v < node_.names.variables.size(); ++v) {
    const ClockCondition c = classes_.of_variable(v);
    if (c.id == wanted.id && is_on_the_way(v)) return {v, c.positive == wanted.positive};
  }
  return {variable, true};
}

Symbol Conditions::brought_down(Symbol condition, const ClockedNode& of, std::size_t variable,
                                const std::vector<Sampling>& list) {
  for (std::size_t k = samplings_of(of, of.variable_clocks[variable]).size(); k < list.size(); ++k)
    condition = sampled(condition, list[k]);
  return condition;
}

Symbol Conditions::sampled(Symbol value, const Sampling& s) {
  const auto [known, is_new] = sampled_.try_emplace({value, s.condition, s.positive});
  if (is_new) {
    const Symbol made = write_.fresh(write_.text(value) + "_" + write_.text(s.condition));
    write_.equation(made, write_.when(write_.name(value), s.condition, s.positive));
    known->second = made;
  }
  return known->second;
}

bool Conditions::keeps_all(const Sampling& s) const {
  const auto known = constants_.find(s.condition);
  return known != constants_.end() && known->second == s.positive;
}

// Equal conditions may be on different clocks, but a name has one clock.
bool Conditions::is_same_clock(ClockTermId a, ClockTermId b) {
  const auto& terms = node_.clocks.terms;
  for (; a != b; a = terms[a.index].parent, b = terms[b.index].parent) {
    if (!a.valid() || !b.valid()) return false;
    const ClockTerm &x = terms[a.index], &y = terms[b.index];
    if (x.kind != y.kind) return false;
    if (x.kind == ClockTerm::never) return true;
    if (x.kind == ClockTerm::variable) return x.index == y.index;
    if (held(x) != held(y)) return false;
  }
  return true;
}

// The condition that holds where a sampled clock is present.
ClockCondition Conditions::held(const ClockTerm& term) {
  ClockCondition c = term.condition.variable >= 0
                         ? classes_.of_variable(static_cast<std::uint32_t>(term.condition.variable))
                         : classes_.of(term.condition.expr);
  c.positive = c.positive == term.positive;
  return c;
}

}  // namespace rml::derivation
