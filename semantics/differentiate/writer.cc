// Copies forward equations with names for the values that the gradient needs, then appends its
// equations.
#include "semantics/differentiate/writer.h"

#include <algorithm>

namespace rml::derivation {

GradientWriter::GradientWriter(Program& program, const NodeFacts& node, const std::string& name)
    : NodeWriter(program, node.key.node, name),
      original_(node),
      identities_(call_identities(program, node.checked.names, node.key.node)) {
  const auto same = [&](ast::Parameter p) {
    if (p.type)
      for (ExprId& extent : p.type->shape) extent = copy(extent);
    return p;
  };
  for (const ast::Parameter& p : node.node.inputs) node_.inputs.push_back(same(p));
  for (const ast::Parameter& p : node.node.outputs) node_.outputs.push_back(same(p));
}

ExprId GradientWriter::value(ExprId e) { return original_.is_static(e) ? copy(e) : SyntaxWriter::name(named(e)); }

ExprId GradientWriter::sampled(ExprId e, Symbol act) { return original_.is_static(e) ? copy(e) : when(value(e), act); }

Symbol GradientWriter::named(ExprId e) {
  if (const auto v = original_.variable(e)) return original_.names.variables[*v].name;
  const ast::Equation& q = original_.node.equations[equation_at_];
  if (q.value == e && q.targets.size() == 1 && q.targets[0].name.valid()) return q.targets[0].name;
  return hoist(e);
}

Symbol GradientWriter::hoist(ExprId e) {
  if (const auto known = hoisted_.find(e); known != hoisted_.end()) return known->second;
  const ast::Target& target = original_.node.equations[equation_at_].targets[0];
  const Symbol s = fresh(target.name.valid() ? original_.text(target.name) + "_part" : "part");
  hoisted_.emplace(e, s);
  before_[equation_at_].push_back(e);
  return s;
}

std::vector<ast::Target> GradientWriter::results(ExprId call) {
  const ast::Equation& q = original_.node.equations[equation_at_];
  return q.value == call ? q.targets : std::vector{target(named(call))};
}

ExprId GradientWriter::name_of(ExprId adjoint) {
  if (std::holds_alternative<ast::Name>(program_[adjoint])) return adjoint;
  const ast::Target& target = original_.node.equations[equation_at_].targets[0];
  const Symbol s = fresh("d" + (target.name.valid() ? original_.text(target.name) + "_part" : std::string("part")));
  equation(s, adjoint);
  return name(s);
}

Symbol GradientWriter::symbol_of(ExprId adjoint) {
  const ExprId name = name_of(adjoint);
  return std::get<ast::Name>(program_[name]).symbol;
}

void GradientWriter::new_output(Symbol s, const std::string& wanted) {
  const auto is_input = [&](Symbol x) {
    return std::ranges::find(node_.inputs, x, &ast::Parameter::name) != node_.inputs.end();
  };
  if (s != symbol(wanted) || is_input(s) || outputs_.contains(s)) {
    const Symbol made = fresh(wanted), taken = symbol(wanted);
    equation(made, name(s));
    if (made != taken && is_fresh(taken) && !is_input(taken) && !outputs_.contains(taken)) {
      exchanged_[made] = taken;
      exchanged_[taken] = made;
    }
    s = made;
  }
  outputs_.insert(s);
  output(s);
}

void GradientWriter::change_names() {
  if (exchanged_.empty() && replaced_.empty()) return;
  const auto change = [&](Symbol& s) {
    for (auto by = replaced_.find(s); by != replaced_.end(); by = replaced_.find(s)) s = by->second;
    if (const auto to = exchanged_.find(s); to != exchanged_.end()) s = to->second;
  };
  std::set<ExprId> seen;
  const std::function<void(ExprId)> visit = [&](ExprId e) {
    if (!seen.insert(e).second) return;
    if (auto* name = std::get_if<ast::Name>(&program_.exprs[e.index])) change(name->symbol);
    for_each_child(program_[e], visit);
  };
  for (ast::Equation& q : node_.equations) {
    for (ast::Target& t : q.targets) change(t.name);
    visit(q.value);
  }
  for (ast::Parameter& p : node_.outputs) change(p.name);
}

// ---- the forward part ----

// Finishes the node: the equations of the original, then those of the gradient.
ast::Node GradientWriter::finish() {
  std::vector<ast::Equation> forward;
  for (std::size_t q = 0; q < original_.node.equations.size(); ++q) {
    const ast::Equation& equation = original_.node.equations[q];
    span = equation.span;
    if (const auto parts = before_.find(q); parts != before_.end())
      for (const ExprId e : parts->second)
        forward.push_back(forward_equation(e, {target(hoisted_.at(e))}, program_.span(e)));
    forward.push_back(forward_equation(equation.value, equation.targets, equation.span));
  }
  for (const ast::Assert& a : original_.node.asserts)
    node_.asserts.push_back({copy_original(a.condition), a.message, a.span});
  for (ast::Equation& e : forward)
    for (ast::Target& t : e.targets)
      if (t.type)
        for (ExprId& extent : t.type->shape) extent = copy(extent);
  node_.equations.insert(node_.equations.begin(), std::make_move_iterator(forward.begin()),
                         std::make_move_iterator(forward.end()));
  change_names();
  return take();
}

ast::Equation GradientWriter::forward_equation(ExprId e, std::vector<ast::Target> targets, Span span) {
  if (const auto known = changed_.find(e); known != changed_.end())
    return std::visit([&](const auto& to) { return changed(e, to); }, known->second);
  return {std::move(targets), copy_parts(e), span};
}

ast::Equation GradientWriter::changed(ExprId e, const ChangedCall& to) {
  span = program_.span(e);
  ast::Call call = identified(e);
  call.target = to.callee;
  call.callee = {program_[to.callee].name};
  call.arguments.clear();
  for (const ExprId a : original_.checked.names.arguments[e.index])
    call.arguments.push_back({{}, span, copy_original(a)});
  for (const ExprId a : to.more) call.arguments.push_back({{}, span, a});
  if (!to.sequences.empty()) {
    std::vector<ast::Argument> added;
    for (const ExprId a : to.sequences) added.push_back({{}, span, a});
    const std::size_t leading = call.iteration->states + call.iteration->sequences;
    call.arguments.insert(call.arguments.begin() + static_cast<std::ptrdiff_t>(leading), added.begin(), added.end());
    call.iteration->sequences += static_cast<std::uint32_t>(added.size());
  }
  if (to.kind) call.iteration->kind = *to.kind;
  return {to.targets, add(std::move(call)), span};
}

ast::Equation GradientWriter::changed(ExprId e, const MovedParameter& to) {
  const Span at = program_.span(e);
  ast::Call call = identified(e);
  const OrderedArguments given = original_.checked.names.arguments[e.index];
  const ExprId init = copy_original(given[0]);
  ExprId act = name(to.act), step = name(to.step);
  if (given.size() > 1 && given[1].valid()) {  // the parameter changes by its own step and by the gradient
    span = at;
    const ExprId own = add(ast::Merge{copy_original(given[1]), copy_original(given[2]), zero()});
    const ExprId sum = binary(BinaryOp::add, padded(to.act, step), own);
    const Symbol either = fresh("act");
    equation(either, binary(BinaryOp::logical_or, act, copy_original(given[1])));
    act = name(either);
    step = when(sum, either);
  }
  call.arguments = {{{}, at, init}, {{}, at, act}, {{}, at, step}};
  return {{to.target}, program_.add(std::move(call), at), at};
}

// A copy of an original expression in which hoisted subexpressions are names.
ExprId GradientWriter::copy_original(ExprId e) {
  if (const auto known = hoisted_.find(e); known != hoisted_.end())
    return program_.add(ast::Name{known->second}, program_.span(e));
  return copy_parts(e);
}

ExprId GradientWriter::copy_parts(ExprId e) {
  const ast::Expr original = std::holds_alternative<ast::Call>(program_[e]) ? ast::Expr{identified(e)} : program_[e];
  ast::Expr mapped = map_children(original, [this](ExprId part) { return copy_original(part); });
  return program_.add(std::move(mapped), program_.span(e));
}

// A copy of a call that keeps its name in the paths of instances and parameters.
ast::Call GradientWriter::identified(ExprId call) const {
  auto c = std::get<ast::Call>(program_[call]);
  if (const auto known = identities_.find(call.index); known != identities_.end())
    c.identity = program_.names.intern(known->second);
  return c;
}

}  // namespace rml::derivation
