// One node's gradient equations (see differentiate.h and the table of rules in docs/language.md).
//
// Each variable v that an output depends on and that depends on an input or a parameter has an
// activity, a Boolean on the clock of v, and an adjoint dv on `clock(v) on activity`. Equations
// are taken users first; each pushes the adjoint of its variable down its expression, to the
// variables in it. Where users form a cycle (a recurrence), one variable's activity and adjoint
// get their names before their equations:
//
//   h = tanh(w * fby_end(end, 0.0, h) + x);
//
//   bp_h = if bp then true else bp_i;                        what uses h: the output, the delay
//   dh = ((merge bp do 0.0) + (merge bp_i di 0.0)) when bp_h;
//
// What the adjoint needs of the forward pass gets a name there. Shapes are not known yet, so an
// adjoint is summed to its variable's shape unless both are plainly the same (ShapeOf).
#include <algorithm>
#include <utility>

#include "semantics/differentiate_derivation.h"

namespace rml::derivation {

ast::Node NodeDerivation::run(const std::string& name) {
  prepare();
  interface(name);
  backward();
  gradients();
  forward();
  return std::move(result_);
}

// ---- values of the forward pass ----

bool NodeDerivation::is_static(ExprId e) const {
  bool found = true;
  if (std::holds_alternative<VariableRef>(reference(e))) return false;
  if (const auto* c = std::get_if<ast::Call>(&expr(e)); c != nullptr) {
    const auto* op = std::get_if<OperatorRef>(&reference(e));
    if (op == nullptr || operators()[op->op].random) return false;
  }
  for_each_child(expr(e), [&](ExprId part) { found = found && is_static(part); });
  return found && !std::holds_alternative<ast::Fby>(expr(e)) && !std::holds_alternative<ast::Post>(expr(e));
}

// e as it may be written again: a name, or a constant.
ExprId NodeDerivation::value(ExprId e) {
  if (is_static(e)) return write_.copy(e);
  return write_.name(named(e));
}

Symbol NodeDerivation::named(ExprId e) {
  if (const auto* v = std::get_if<VariableRef>(&reference(e)); v && std::holds_alternative<ast::Name>(expr(e)))
    return resolved_.variables[v->variable].name;
  if (const auto& q = node_.equations[equation_]; q.value == e && q.targets.size() == 1 && q.targets[0].name.valid())
    return q.targets[0].name;
  return hoist(e);
}

Symbol NodeDerivation::hoist(ExprId e) {
  if (const auto known = hoisted_.find(e); known != hoisted_.end()) return known->second;
  const ast::Target& target = node_.equations[equation_].targets[0];
  const Symbol s = fresh(target.name.valid() ? text(target.name) + "_part" : "part");
  hoisted_.emplace(e, s);
  before_[equation_].push_back(e);
  return s;
}

// Conditions of clocks that are no names, without their negations.
void NodeDerivation::find_conditions(ExprId e) {
  const auto add = [&](ExprId condition) {
    condition = without_not(condition);
    if (!std::holds_alternative<ast::Name>(expr(condition))) sampled_by_.push_back(condition);
  };
  if (const auto* w = std::get_if<ast::When>(&expr(e))) add(w->condition);
  if (const auto* m = std::get_if<ast::Merge>(&expr(e))) add(m->condition);
  if (const auto* g = std::get_if<NodeRef>(&reference(e)))
    for (const ClockTerm& t : checked_.clocks.nodes[g->node.index].terms)
      if (t.kind == ClockTerm::on && t.condition.variable >= 0 &&
          static_cast<std::size_t>(t.condition.variable) < checked_.names.arguments[e.index].size())
        add(checked_.names.arguments[e.index][static_cast<std::size_t>(t.condition.variable)]);
  for_each_child(expr(e), [&](ExprId part) { find_conditions(part); });
}

ExprId NodeDerivation::without_not(ExprId e) const {
  for (;;) {
    const auto* u = std::get_if<ast::Unary>(&expr(e));
    if (u == nullptr || u->op != UnaryOp::logical_not) return e;
    e = u->operand;
  }
}

// A condition's name. All expressions that are the same condition get it, or clocks that were equal
// would be so no more.
Symbol NodeDerivation::condition(ExprId e) {
  const ExprId inner = without_not(e);
  if (!std::holds_alternative<ast::Name>(expr(inner)) && !hoisted_.contains(inner)) {
    const Symbol s = hoist(inner);
    const Condition same = conditions_.of(inner);
    for (const ExprId other : sampled_by_)
      if (conditions_.of(other) == same &&
          same_clock(checked_.clocks.expr_clocks[inner.index], checked_.clocks.expr_clocks[other.index]))
        hoisted_.emplace(other, s);
  }
  const Symbol s = named(e);
  if (const Condition c = conditions_.of(e); c.constant()) constants_.emplace(s, c.positive);
  return s;
}

ExprId NodeDerivation::sampled(ExprId e, Symbol act) {
  return is_static(e) ? write_.copy(e) : write_.when(value(e), act);
}

// A copy of an original expression, in which hoisted parts are names.
ExprId NodeDerivation::copy(ExprId e) {
  if (const auto known = hoisted_.find(e); known != hoisted_.end())
    return program_.add(ast::Name{known->second}, program_.span(e));
  return copy_parts(e);
}

ExprId NodeDerivation::copy_parts(ExprId e) {
  const ast::Expr original = std::holds_alternative<ast::Call>(program_[e]) ? ast::Expr{identified(e)} : program_[e];
  ast::Expr mapped = map_children(original, [this](ExprId part) { return copy(part); });
  return program_.add(std::move(mapped), program_.span(e));
}

// A call that keeps its name among the paths of instances and parameters.
ast::Call NodeDerivation::identified(ExprId call) {
  auto c = std::get<ast::Call>(program_[call]);
  if (const auto known = identities_.find(call.index); known != identities_.end())
    c.identity = program_.names.intern(known->second);
  return c;
}

// ---- activities ----

void NodeDerivation::equation(Symbol left, ExprId right) {
  backward_.push_back({{write_.target(left)}, right, write_.span});
}

Symbol NodeDerivation::derived(const std::string& key, const std::string& hint, const std::function<ExprId()>& right) {
  if (const auto known = activities_.find(key); known != activities_.end()) return known->second;
  const Symbol s = fresh(hint);
  activities_[key] = s;
  equation(s, right());
  return s;
}

std::string NodeDerivation::id(Symbol s) { return std::to_string(s.index); }

Symbol NodeDerivation::act_when(Symbol act, Symbol c, bool positive) {
  if (keeps_all(c, positive)) return act;
  const Symbol s = derived("when " + id(act) + (positive ? " " : " not ") + id(c), text(act) + "_" + text(c),
                           [&] { return write_.when(write_.name(act), c, positive); });
  sampled_from_.emplace(s, Sampling{act, c, positive});
  return s;
}

Symbol NodeDerivation::act_lift(Symbol act, Symbol c, bool positive) {
  if (keeps_all(c, positive)) return act;
  return derived("lift " + id(act) + (positive ? " " : " not ") + id(c), text(act) + "_" + text(c), [&] {
    return positive ? write_.merge(c, write_.name(act), write_.boolean(false))
                    : write_.merge(c, write_.boolean(false), write_.name(act));
  });
}

Symbol NodeDerivation::act_if(Symbol act, Symbol c, bool positive) {
  return derived("if " + id(act) + (positive ? " " : " not ") + id(c), text(act) + "_" + text(c), [&] {
    return positive ? write_.choose(c, write_.name(act), write_.boolean(false))
                    : write_.choose(c, write_.boolean(false), write_.name(act));
  });
}

Symbol NodeDerivation::act_any(const std::vector<Symbol>& acts, const std::string& hint) {
  std::string key = "any";
  for (const Symbol a : acts) key += " " + id(a);
  return derived(key, hint, [&] { return any_of(acts); });
}

// An `or` that asks for the later ones only where it must: they may lie in the future.
ExprId NodeDerivation::any_of(const std::vector<Symbol>& acts) {
  ExprId all = write_.name(acts.back());
  for (std::size_t k = acts.size() - 1; k-- > 0;) all = write_.choose(acts[k], write_.boolean(true), all);
  return all;
}

ExprId NodeDerivation::padded(Symbol act, ExprId adjoint) { return write_.merge(act, adjoint, write_.zero()); }

// ---- clocks ----

// The conditions from the root of the node's clocks down to a clock.
std::vector<Sampling> NodeDerivation::chain(ClockTermId term) {
  std::vector<Sampling> list;
  for (; term.valid() && clocked_.terms[term.index].kind == ClockTerm::on; term = clocked_.terms[term.index].parent) {
    const ClockTerm& t = clocked_.terms[term.index];
    const Symbol c = t.condition.variable >= 0
                         ? resolved_.variables[static_cast<std::size_t>(t.condition.variable)].name
                         : condition(t.condition.expr);
    list.push_back({{}, c, t.positive});
  }
  std::ranges::reverse(list);
  return list;
}

Symbol NodeDerivation::act_on(Symbol act, const std::vector<Sampling>& conditions) {
  for (const Sampling& s : conditions) act = act_when(act, s.condition, s.positive);
  return act;
}

bool NodeDerivation::is_act_on(Symbol act, Symbol whole, const std::vector<Sampling>& conditions) const {
  for (std::size_t k = conditions.size(); k-- > 0;) {
    if (keeps_all(conditions[k].condition, conditions[k].positive)) continue;
    const auto from = sampled_from_.find(act);
    if (from == sampled_from_.end() || from->second.condition != conditions[k].condition ||
        from->second.positive != conditions[k].positive)
      return false;
    act = from->second.act;
  }
  return act == whole;
}

ExprId NodeDerivation::on(ExprId e, const std::vector<Sampling>& conditions) {
  for (const Sampling& s : conditions) e = write_.when(e, s.condition, s.positive);
  return e;
}

// ---- the interface ----

void NodeDerivation::interface(const std::string& name) {
  result_.name = program_.names.intern(name);
  result_.name_span = node_.name_span;
  result_.span = node_.span;
  result_.module = node_.module;
  result_.derived_from = key_.node;
  const auto same = [&](const ast::Parameter& p) {
    ast::Parameter copied = p;
    if (copied.type)
      for (ExprId& extent : copied.type->shape) extent = write_.copy(extent);
    return copied;
  };
  for (const ast::Parameter& p : node_.inputs) result_.inputs.push_back(same(p));
  for (const ast::Parameter& p : node_.outputs) result_.outputs.push_back(same(p));
  const auto input = [&](const std::string& base) {
    const Symbol s = fresh(base);
    result_.inputs.push_back({s, write_.span, std::nullopt});
    return s;
  };
  const auto clock_of_output = [&](std::uint32_t j) { return clocked_.variable_clocks[node_.inputs.size() + j]; };
  for (std::uint32_t j = 0; j < node_.outputs.size(); ++j)
    if (key_.outputs[j] && bps_.emplace(root_of(clocked_, clock_of_output(j)), Symbol{}).second)
      out_.roots.push_back(root_of(clocked_, clock_of_output(j)));
  if (out_.roots.empty()) out_.roots.push_back(UINT32_MAX);
  for (const std::uint32_t root : out_.roots) bps_[root] = input("bp");
  for (std::uint32_t j = 0; j < node_.outputs.size(); ++j) {
    if (!key_.outputs[j]) continue;
    out_.adjoints.push_back(j);
    const auto v = static_cast<std::uint32_t>(node_.inputs.size()) + j;
    const Symbol adjoint = input("d" + variable_text(v));
    equation_ = resolved_.variables[v].equation;
    const Symbol act = act_on(bps_.at(root_of(clocked_, clock_of_output(j))), chain(clock_of_output(j)));
    contributions_[v].push_back({act, write_.name(adjoint), {}, true, {}, {}, true});
  }
  for (const std::uint32_t root : out_.roots)
    for (std::size_t k = 0; k < key_.rates; ++k)
      rates_[root].push_back(input(text(program_[key_.optimizer].inputs[k].name)));
}

// ---- backward ----

// Equations users first; where none is ready a variable on the cycle gets its names early.
void NodeDerivation::backward() {
  std::vector<bool> done(node_.equations.size(), false);
  std::vector<std::size_t> waiting(resolved_.variables.size(), 0);
  std::vector<std::size_t> order;
  std::vector<bool> relevant(node_.equations.size(), false);
  for (std::uint32_t v = 0; v < resolved_.variables.size(); ++v) {
    waiting[v] = users_[v].size();
    if (useful_[v] && resolved_.variables[v].equation != UINT32_MAX) relevant[resolved_.variables[v].equation] = true;
  }
  const auto ready = [&](std::size_t q) {
    return std::ranges::all_of(targets_[q], [&](std::uint32_t v) {
      return v == UINT32_MAX || !useful_[v] || waiting[v] == 0 || early_[v].given();
    });
  };
  const auto process = [&](std::size_t q) {
    done[q] = true;
    equation_ = q;
    write_.span = node_.equations[q].span;
    for (const std::uint32_t v : targets_[q])
      if (v != UINT32_MAX && useful_[v] && !early_[v].given()) settle(v);
    for (const std::uint32_t v : targets_[q])
      if (v != UINT32_MAX) grounded_[v] = is_grounded(v);
    differentiate_equation(q);
    Variables leaves;
    adjoint_leaves(node_.equations[q].value, leaves);
    for (const std::uint32_t leaf : leaves) --waiting[leaf];
  };
  for (;;) {
    std::optional<std::size_t> next;
    bool left = false;
    for (std::size_t q = node_.equations.size(); q-- > 0;) {
      if (done[q] || !relevant[q]) continue;
      left = true;
      if (ready(q)) {
        next = q;
        break;
      }
    }
    if (!left) break;
    if (next)
      process(*next);
    else
      name_early(done, relevant);
  }
  for (std::uint32_t v = 0; v < resolved_.variables.size(); ++v) {
    if (!useful_[v]) continue;
    const std::uint32_t q = resolved_.variables[v].equation;
    write_.span = q == UINT32_MAX ? resolved_.variables[v].span : node_.equations[q].span;
    equation_ = q == UINT32_MAX ? 0 : q;
    if (early_[v].given() || q == UINT32_MAX) settle(v);
  }
}

// Of the variables that wait, one that is read through a delay (a recurrence is cut there).
void NodeDerivation::name_early(const std::vector<bool>& done, const std::vector<bool>& relevant) {
  std::uint32_t chosen = UINT32_MAX;
  bool delayed = false;
  const std::function<void(ExprId, bool)> look = [&](ExprId e, bool inside) {
    if (const auto* v = std::get_if<VariableRef>(&reference(e)); v && std::holds_alternative<ast::Name>(expr(e))) {
      const std::uint32_t q = resolved_.variables[v->variable].equation;
      const bool candidate = useful_[v->variable] && q != UINT32_MAX && !done[q] && !early_[v->variable].given();
      if (candidate && (chosen == UINT32_MAX || (inside && !delayed))) chosen = v->variable, delayed = inside;
    }
    const bool delays = std::holds_alternative<ast::Fby>(expr(e)) || std::holds_alternative<ast::Post>(expr(e)) ||
                        std::holds_alternative<NodeRef>(reference(e));
    for_each_child(expr(e), [&](ExprId part) { look(part, inside || delays); });
  };
  for (std::size_t q = 0; q < node_.equations.size(); ++q)
    if (!done[q] && relevant[q]) look(node_.equations[q].value, false);
  early_[chosen] = {fresh("bp_" + variable_text(chosen)), fresh("d" + variable_text(chosen))};
  adjoints_[chosen] = early_[chosen];
}

// Adds up what the users of v contributed.
void NodeDerivation::settle(std::uint32_t v) {
  const std::vector<Contribution>& list = contributions_[v];
  const Adjoint early = early_[v];
  if (list.empty() && !early.given()) return;
  Symbol act;
  ExprId sum;
  if (list.empty()) {
    act = early.act;
    equation(act, write_.boolean(false));
    sum = write_.when(write_.call("zeros_like", {write_.name(resolved_.variables[v].name)}), act);
  } else if (list.size() == 2 && list[0].condition.valid() && list[0].condition == list[1].condition &&
             list[0].positive != list[1].positive) {
    std::tie(act, sum) = both_branches(v, list[list[0].positive ? 0 : 1], list[list[0].positive ? 1 : 0]);
  } else if (std::ranges::all_of(list, [&](const Contribution& c) { return c.act == list[0].act; })) {
    act = list[0].act;
    for (const Contribution& c : list) sum = sum.valid() ? write_.binary(BinaryOp::add, sum, c.adjoint) : c.adjoint;
  } else {
    std::vector<Symbol> acts;
    for (const Contribution& c : list) {
      if (std::ranges::find(acts, c.act) == acts.end()) acts.push_back(c.act);
      const ExprId part = padded(c.act, c.adjoint);
      sum = sum.valid() ? write_.binary(BinaryOp::add, sum, part) : part;
    }
    if (early.given()) {
      equation(early.act, any_of(acts));
      act = early.act;
    } else {
      act = act_any(acts, "bp_" + variable_text(v));
    }
    sum = write_.when(sum, act);
  }
  if (early.given()) {
    if (act != early.act) equation(early.act, write_.name(act));
    // An adjoint that only itself contributes to is zero, of a shape that nothing else tells.
    if (!list.empty() && !is_grounded(v)) {
      const ExprId zeros = write_.call("zeros_like", {write_.name(resolved_.variables[v].name)});
      sum = write_.binary(BinaryOp::add, sum, write_.when(zeros, early.act));
    }
    equation(early.value, sum);
    return;
  }
  const auto* name = std::get_if<ast::Name>(&program_[sum]);
  if (name != nullptr && !is_parameter(v)) {
    adjoints_[v] = {act, name->symbol};
    return;
  }
  adjoints_[v] = {act, fresh("d" + variable_text(v))};
  equation(adjoints_[v].value, sum);
}

// x used as `x when c` and `x when not c`: each cycle has one of the two.
std::pair<Symbol, ExprId> NodeDerivation::both_branches(std::uint32_t v, const Contribution& yes,
                                                        const Contribution& no) {
  const Symbol c = yes.condition;
  Symbol act;
  const auto a = sampled_from_.find(yes.inner_act), b = sampled_from_.find(no.inner_act);
  if (a != sampled_from_.end() && b != sampled_from_.end() && a->second.act == b->second.act &&
      a->second.condition == c && b->second.condition == c)
    act = a->second.act;
  else
    act = derived("both " + id(c) + " " + id(yes.inner_act) + " " + id(no.inner_act), "bp_" + variable_text(v),
                  [&] { return write_.merge(c, write_.name(yes.inner_act), write_.name(no.inner_act)); });
  return {act, write_.when(write_.merge(c, padded(yes.inner_act, yes.inner), padded(no.inner_act, no.inner)), act)};
}

void NodeDerivation::differentiate_equation(std::size_t q) {
  const ExprId e = node_.equations[q].value;
  if (std::holds_alternative<NodeRef>(reference(e))) {
    std::vector<Adjoint> adjoints;
    for (const std::uint32_t v : targets_[q]) adjoints.push_back(v == UINT32_MAX ? Adjoint{} : adjoints_[v]);
    node_call(e, adjoints);
    return;
  }
  const std::uint32_t v = targets_[q][0];
  if (v == UINT32_MAX || !adjoints_[v].given()) return;
  push(e, {adjoints_[v].act, write_.name(adjoints_[v].value), shape_of_variable(v)});
}

// Adds the flow to the adjoints of the variables in e.
void NodeDerivation::push(ExprId e, Flow flow) {
  if (!flows_to(e)) return;
  const Span outer = std::exchange(write_.span, program_.span(e));
  const ast::Expr original = program_[e];  // the program's expressions move while new ones are added
  std::visit(Cases{
                 [&](const ast::Name&) { leaf(e, std::move(flow), {}); },
                 [&](const ast::When& x) { sampling(x, std::move(flow)); },
                 [&](const ast::Merge& x) {
                   const Symbol c = condition(x.condition);
                   const ExprId d = name_of(padded(flow.act, flow.adjoint));
                   branch(x.on_true, act_when(flow.act, c, true), write_.when(write_.copy(d), c), flow.shape);
                   branch(x.on_false, act_when(flow.act, c, false), write_.when(write_.copy(d), c, false), flow.shape);
                 },
                 [&](const ast::If& x) {
                   const Symbol c = named(x.condition);
                   const ExprId d = name_of(padded(flow.act, flow.adjoint));
                   branch(x.then_branch, act_if(flow.act, c, true), write_.copy(d), flow.shape);
                   branch(x.else_branch, act_if(flow.act, c, false), write_.copy(d), flow.shape);
                 },
                 [&](const ast::Fby& x) { delay(e, x, std::move(flow)); },
                 [&](const ast::Post& x) {
                   const Symbol act = derived("prev " + id(flow.act), text(flow.act) + "_prev", [&] {
                     return write_.add(ast::Fby{write_.boolean(false), write_.name(flow.act)});
                   });
                   const ExprId d = write_.add(ast::Fby{write_.zero(), padded(flow.act, flow.adjoint)});
                   push(x.operand, {act, write_.when(d, act), flow.shape});
                 },
                 [&](const ast::Index& x) { subscript(e, x, std::move(flow)); },
                 [&](const ast::Call&) {
                   if (std::holds_alternative<ParamRef>(reference(e)))
                     nested_parameter(e, reduced(std::move(flow), e));
                   else if (std::holds_alternative<NodeRef>(reference(e)))
                     nested_call(e, reduced(std::move(flow), e));
                   else
                     application(e, std::move(flow));
                 },
                 [&](const auto&) { application(e, std::move(flow)); },
             },
             original);
  write_.span = outer;
}

void NodeDerivation::branch(ExprId e, Symbol act, ExprId padded_adjoint, const ShapeOf& shape) {
  if (flows_to(e)) push(e, {act, write_.when(padded_adjoint, act), shape});
}

// The adjoint as something that may be written twice.
ExprId NodeDerivation::name_of(ExprId adjoint) {
  if (std::holds_alternative<ast::Name>(program_[adjoint])) return adjoint;
  const ast::Target& target = node_.equations[equation_].targets[0];
  const Symbol s = fresh("d" + (target.name.valid() ? text(target.name) + "_part" : std::string("part")));
  equation(s, adjoint);
  return write_.name(s);
}

void NodeDerivation::leaf(ExprId e, Flow flow, Contribution how) {
  const auto* v = std::get_if<VariableRef>(&reference(e));
  if (v == nullptr || !useful_[v->variable]) return;
  flow = reduced(std::move(flow), e);
  how.act = flow.act;
  how.adjoint = flow.adjoint;
  how.grounded = std::ranges::any_of(targets_[equation_],
                                     [&](std::uint32_t target) { return target != UINT32_MAX && grounded_[target]; });
  contributions_[v->variable].push_back(how);
}

void NodeDerivation::sampling(const ast::When& x, Flow flow) {
  const Symbol c = condition(x.condition);
  const bool positive = x.positive;
  const ExprId d = name_of(flow.adjoint);
  const Symbol act = act_lift(flow.act, c, positive);
  const ExprId inner = padded(flow.act, d);
  const ExprId lifted = positive ? write_.merge(c, inner, write_.zero()) : write_.merge(c, write_.zero(), inner);
  Flow up{act, write_.when(lifted, act), flow.shape};
  const bool name = std::holds_alternative<ast::Name>(expr(x.operand));
  if (!name) return push(x.operand, std::move(up));
  Contribution how;
  if (flow.shape == shape_of(x.operand)) how = {{}, {}, c, positive, flow.act, write_.copy(d)};
  leaf(x.operand, std::move(up), how);
}

void NodeDerivation::delay(ExprId e, const ast::Fby& x, Flow flow) {
  const ExprId d = name_of(padded(flow.act, flow.adjoint));
  if (flows_to(x.next)) {
    const Symbol act = derived("post " + id(flow.act), text(flow.act) + "_next",
                               [&] { return write_.add(ast::Post{write_.name(flow.act)}); });
    const ExprId next = write_.add(ast::Post{write_.copy(d)});
    push(x.next, {act, write_.when(next, act), flow.shape});
  }
  if (flows_to(x.init)) {
    const Symbol first = derived("first " + std::to_string(checked_.clocks.expr_clocks[e.index].index), "first",
                                 [&] { return write_.add(ast::Fby{write_.boolean(true), write_.boolean(false)}); });
    const Symbol act = act_if(flow.act, first, true);
    push(x.init, {act, write_.when(write_.copy(d), act), flow.shape});
  }
}

// ---- the result ----

void NodeDerivation::gradients() {
  std::map<Symbol, std::uint32_t> given;  // activities that are outputs, and whose
  for (std::uint32_t i = 0; i < node_.inputs.size(); ++i) {
    if (!useful_[i] || !adjoints_[i].given()) continue;
    const Adjoint& a = adjoints_[i];
    write_.span = node_.inputs[i].span;
    const ClockTermId clock = clocked_.variable_clocks[i];
    const auto bp = bps_.find(root_of(clocked_, clock));
    const bool plain = bp != bps_.end() && is_act_on(a.act, bp->second, chain(clock));
    const auto known = given.find(a.act);
    Derivative::Extra gradient{Derivative::Extra::gradient, i, Derivative::no_input};
    if (!plain && known != given.end()) {
      gradient.active_with = known->second;
    } else if (!plain) {
      given[a.act] = gradient.active_with = i;
      const Symbol act = output(a.act, "bp_" + variable_text(i));
      result_.outputs.push_back({act, write_.span, std::nullopt});
      out_.extras.push_back({Derivative::Extra::activity, i, Derivative::no_input});
    }
    const Symbol d = output(a.value, "d" + variable_text(i));
    result_.outputs.push_back({d, write_.span, std::nullopt});
    out_.extras.push_back(gradient);
  }
}

// A variable of ours under an output's name, unless it has it.
Symbol NodeDerivation::output(Symbol s, const std::string& wanted) {
  const Symbol name = program_.names.intern(wanted);
  const bool own = s == name && outputs_.insert(s).second &&
                   std::ranges::none_of(result_.inputs, [&](const ast::Parameter& p) { return p.name == s; });
  if (own) return s;
  const Symbol made = fresh(wanted);
  outputs_.insert(made);
  equation(made, write_.name(s));
  return made;
}

void NodeDerivation::forward() {
  std::vector<ast::Equation> equations;
  for (std::size_t q = 0; q < node_.equations.size(); ++q) {
    equation_ = q;
    write_.span = node_.equations[q].span;
    const auto before = before_.find(q);
    if (before != before_.end())
      for (const ExprId e : before->second) equations.push_back(forward_equation(e, {hoisted_.at(e), write_.span, {}}));
    const ast::Equation& original = node_.equations[q];
    ast::Equation made;
    if (const auto known = special_.find(original.value); known != special_.end())
      made = known->second();
    else
      made = {original.targets, copy_parts(original.value), original.span};
    equations.push_back(std::move(made));
  }
  for (const ast::Assert& a : node_.asserts) result_.asserts.push_back({copy(a.condition), a.message, a.span});
  for (ast::Equation& e : equations) {
    for (ast::Target& t : e.targets)
      if (t.type)
        for (ExprId& extent : t.type->shape) extent = write_.copy(extent);
    result_.equations.push_back(std::move(e));
  }
  for (ast::Equation& e : backward_) result_.equations.push_back(std::move(e));
}

ast::Equation NodeDerivation::forward_equation(ExprId e, ast::Target target) {
  if (const auto known = special_.find(e); known != special_.end()) return known->second();
  return {{std::move(target)}, copy_parts(e), program_.span(e)};
}

}  // namespace rml::derivation

namespace rml {

ast::Node derive_node(Differentiation& owner, const DerivativeKey& key, const std::string& name, Derivative& out) {
  ast::Node node = derivation::NodeDerivation(owner, key, out).run(name);
  node.name = owner.program().names.intern(name);
  return node;
}

}  // namespace rml
