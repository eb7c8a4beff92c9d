// What depends on what in a node, and of which shape (see differentiate_derivation.h).
#include <algorithm>

#include "semantics/differentiate_derivation.h"

namespace rml::derivation {

// ---- preparation: what depends on what ----

void NodeDerivation::prepare() {
  write_.span = node_.name_span;
  conditions_.enter(key_.node);
  for (const ast::Equation& q : node_.equations) find_conditions(q.value);
  const std::size_t n = resolved_.variables.size();
  targets_.resize(node_.equations.size());
  for (std::size_t q = 0; q < node_.equations.size(); ++q)
    targets_[q].assign(node_.equations[q].targets.size(), UINT32_MAX);
  for (std::uint32_t v = 0; v < n; ++v) {
    const Variable& variable = resolved_.variables[v];
    if (variable.equation != UINT32_MAX) targets_[variable.equation][variable.target] = v;
  }
  varied_.assign(n, false);
  for (std::uint32_t v = 0; v < n; ++v)
    varied_[v] = resolved_.variables[v].kind == Variable::input && float_variable(v);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t q = 0; q < node_.equations.size(); ++q) {
      if (!varied(node_.equations[q].value)) continue;
      for (const std::uint32_t v : targets_[q])
        if (v != UINT32_MAX && !varied_[v]) varied_[v] = changed = true;
    }
  }
  useful_.assign(n, false);
  users_.resize(n);
  std::vector<std::uint32_t> work;
  for (std::uint32_t j = 0; j < node_.outputs.size(); ++j)
    if (key_.outputs[j]) work.push_back(static_cast<std::uint32_t>(node_.inputs.size()) + j);
  std::vector<bool> read(node_.equations.size(), false);
  while (!work.empty()) {
    const std::uint32_t v = work.back();
    work.pop_back();
    if (useful_[v] || !varied_[v]) continue;
    useful_[v] = true;
    const std::uint32_t q = resolved_.variables[v].equation;
    if (q == UINT32_MAX || read[q]) continue;
    read[q] = true;
    Variables leaves;
    adjoint_leaves(node_.equations[q].value, leaves);
    for (const std::uint32_t leaf : leaves) {
      users_[leaf].push_back(q);
      work.push_back(leaf);
    }
  }
  shapes_.resize(n);
  contributions_.resize(n);
  grounded_.assign(n, false);
  adjoints_.resize(n);
  early_.assign(n, {});
}

bool NodeDerivation::float_variable(std::uint32_t v) const {
  return is_float(typed_, typed_.variable_types[v], key_.float_variables);
}

bool NodeDerivation::float_expr(ExprId e) const {
  return is_float(typed_, checked_.types.expr_types[e.index], key_.float_variables);
}

const Reference& NodeDerivation::reference(ExprId e) const { return checked_.names.references[e.index]; }

const ast::Expr& NodeDerivation::expr(ExprId e) const { return program_[e]; }

// Whether the value of e depends on a differentiable input or a parameter; not through conditions.
bool NodeDerivation::varied(ExprId e) {
  if (!e.valid()) return false;
  const auto any = [&](auto... parts) { return (varied(parts) || ...); };
  return std::visit(Cases{
                        [&](const ast::Name&) {
                          const auto* v = std::get_if<VariableRef>(&reference(e));
                          return v != nullptr && varied_[v->variable];
                        },
                        [&](const ast::If& x) { return any(x.then_branch, x.else_branch); },
                        [&](const ast::Merge& x) { return any(x.on_true, x.on_false); },
                        [&](const ast::When& x) { return any(x.operand); },
                        [&](const ast::Index& x) { return any(x.operand); },
                        [&](const ast::Call& c) {
                          if (std::holds_alternative<StopGradientRef>(reference(e))) return false;
                          if (std::holds_alternative<ParamRef>(reference(e))) return true;
                          const auto* g = std::get_if<NodeRef>(&reference(e));
                          if (g != nullptr && owner_.has_parameters(g->node)) return true;
                          if (g == nullptr) {
                            for (const auto& [operand, part] : operands(e))
                              if (varied(operand)) return true;
                            return false;
                          }
                          return std::ranges::any_of(c.arguments, [&](const auto& a) { return varied(a.value); });
                        },
                        [&](const auto&) {
                          bool found = false;
                          for_each_child(expr(e), [&](ExprId part) { found = found || varied(part); });
                          return found;
                        },
                    },
                    expr(e));
}

// Operands of an operator's application with the position of each among the row's operands.
std::vector<std::pair<ExprId, std::size_t>> NodeDerivation::operands(ExprId e) const {
  const auto* op = std::get_if<OperatorRef>(&reference(e));
  if (op == nullptr) return {};
  std::vector<std::pair<ExprId, std::size_t>> list;
  const auto& x = expr(e);
  if (const auto* u = std::get_if<ast::Unary>(&x)) return {{u->operand, 0}};
  if (const auto* b = std::get_if<ast::Binary>(&x)) return {{b->left, 0}, {b->right, 1}};
  if (const auto* a = std::get_if<ast::Array>(&x)) {
    for (const ExprId element : a->elements) list.emplace_back(element, 0);
    return list;
  }
  if (!std::holds_alternative<ast::Call>(x)) return {};
  const OperatorInfo& row = operators()[op->op];
  const OrderedArguments& arguments = checked_.names.arguments[e.index];
  std::size_t next = 0, place = 0;
  const std::size_t repeated = arguments.size() + 1 - row.parameters.size();
  for (const OperatorParameter& p : row.parameters) {
    for (std::size_t k = p.variadic ? repeated : 1; k > 0; --k, ++next)
      if (p.kind == ParameterKind::operand && arguments[next].valid()) list.emplace_back(arguments[next], place);
    if (p.kind == ParameterKind::operand) ++place;
  }
  return list;
}

bool NodeDerivation::flows_to(ExprId e) { return e.valid() && varied(e) && float_expr(e); }

// The variables that push() would reach from e.
void NodeDerivation::adjoint_leaves(ExprId e, Variables& out) {
  if (!e.valid() || !varied(e)) return;
  const bool call = std::holds_alternative<NodeRef>(reference(e));
  if (!call && !float_expr(e)) return;
  if (const auto* v = std::get_if<VariableRef>(&reference(e)); v && std::holds_alternative<ast::Name>(expr(e))) {
    out.insert(v->variable);
  } else if (const auto* i = std::get_if<ast::If>(&expr(e))) {
    adjoint_leaves(i->then_branch, out), adjoint_leaves(i->else_branch, out);
  } else if (const auto* m = std::get_if<ast::Merge>(&expr(e))) {
    adjoint_leaves(m->on_true, out), adjoint_leaves(m->on_false, out);
  } else if (const auto* w = std::get_if<ast::When>(&expr(e))) {
    adjoint_leaves(w->operand, out);
  } else if (const auto* x = std::get_if<ast::Index>(&expr(e))) {
    adjoint_leaves(x->operand, out);
  } else if (std::holds_alternative<OperatorRef>(reference(e))) {
    const auto op = std::get<OperatorRef>(reference(e)).op;
    for (const auto& [operand, place] : operands(e))
      if (derivative_rule(op, place).adjoint.valid()) adjoint_leaves(operand, out);
  } else if (call) {
    for (const ExprId a : checked_.names.arguments[e.index])
      if (flows_to(a)) adjoint_leaves(a, out);
  } else if (!std::holds_alternative<ParamRef>(reference(e))) {
    for_each_child(expr(e), [&](ExprId part) { adjoint_leaves(part, out); });
  }
}

// ---- names and shapes ----

Symbol NodeDerivation::fresh(const std::string& base) { return fresh_(base); }

const std::string& NodeDerivation::text(Symbol s) const { return program_.text(s); }

const std::string& NodeDerivation::variable_text(std::uint32_t v) const { return text(resolved_.variables[v].name); }

const ShapeOf& NodeDerivation::shape_of_variable(std::uint32_t v) {
  if (shapes_[v]) return *shapes_[v];
  const Variable& variable = resolved_.variables[v];
  shapes_[v] = ShapeOf{v};  // for cycles
  const bool written = variable.type != nullptr && variable.type->has_shape;
  if (!written && variable.equation != UINT32_MAX && targets_[variable.equation].size() == 1) {
    ShapeOf found = shape_of(node_.equations[variable.equation].value);
    shapes_[v] = std::move(found);
  }
  return *shapes_[v];
}

ShapeOf NodeDerivation::shape_of(ExprId e) {
  const auto join = [&](std::initializer_list<ExprId> parts) {
    ShapeOf all;
    for (const ExprId part : parts) all.merge(shape_of(part));
    return all;
  };
  return std::visit(Cases{
                        [&](const ast::Name&) {
                          if (const auto* v = std::get_if<VariableRef>(&reference(e)))
                            return shape_of_variable(v->variable);
                          return own_shape(e);
                        },
                        [&](const ast::BoolLiteral&) { return ShapeOf{}; },
                        [&](const ast::IntLiteral&) { return ShapeOf{}; },
                        [&](const ast::FloatLiteral&) { return ShapeOf{}; },
                        [&](const ast::Unary& x) { return shape_of(x.operand); },
                        [&](const ast::Binary& x) { return join({x.left, x.right}); },
                        [&](const ast::If& x) { return join({x.then_branch, x.else_branch}); },
                        [&](const ast::Fby& x) { return join({x.init, x.next}); },
                        [&](const ast::Merge& x) { return join({x.on_true, x.on_false}); },
                        [&](const ast::Post& x) { return shape_of(x.operand); },
                        [&](const ast::When& x) { return shape_of(x.operand); },
                        [&](const ast::Call&) {
                          const Reference& to = reference(e);
                          if (std::holds_alternative<ParamRef>(to))
                            return shape_of(checked_.names.arguments[e.index][0]);
                          if (std::holds_alternative<StopGradientRef>(to))
                            return shape_of(checked_.names.arguments[e.index][0]);
                          if (!elementwise(e)) return own_shape(e);
                          ShapeOf all;
                          for (const auto& [operand, place] : operands(e)) all.merge(shape_of(operand));
                          return all;
                        },
                        [&](const auto&) { return own_shape(e); },
                    },
                    expr(e));
}

ShapeOf NodeDerivation::own_shape(ExprId e) { return {std::uint64_t{1} << 32 | e.index}; }

bool NodeDerivation::elementwise(ExprId e) const {
  const auto* op = std::get_if<OperatorRef>(&reference(e));
  return op != nullptr && operators()[op->op].lowering == Lowering::elementwise;
}

bool NodeDerivation::is_grounded(std::uint32_t v) const {
  return std::ranges::any_of(contributions_[v], &Contribution::grounded);
}

bool NodeDerivation::is_parameter(std::uint32_t v) const {
  const std::uint32_t q = resolved_.variables[v].equation;
  return q != UINT32_MAX && std::holds_alternative<ParamRef>(reference(node_.equations[q].value));
}

// Two conditions on different clocks may be the same: a name has one clock.
bool NodeDerivation::same_clock(ClockTermId a, ClockTermId b) {
  for (; a != b; a = clocked_.terms[a.index].parent, b = clocked_.terms[b.index].parent) {
    if (!a.valid() || !b.valid()) return false;
    const ClockTerm &x = clocked_.terms[a.index], &y = clocked_.terms[b.index];
    if (x.kind != y.kind) return false;
    if (x.kind == ClockTerm::never) return true;
    if (x.kind == ClockTerm::variable) return x.index == y.index;
    const auto holds = [&](const ClockTerm& t) {
      Condition c = t.condition.variable >= 0
                        ? conditions_.of_variable(static_cast<std::uint32_t>(t.condition.variable))
                        : conditions_.of(t.condition.expr);
      c.positive = c.positive == t.positive;
      return c;
    };
    if (holds(x) != holds(y)) return false;
  }
  return true;
}

// Whether `when c`, or `when not c`, is on the clock that it samples, as that of a constant is.
bool NodeDerivation::keeps_all(Symbol c, bool positive) const {
  const auto known = constants_.find(c);
  return known != constants_.end() && known->second == positive;
}

ExprId NodeDerivation::shape_expr(ExprId value) { return write_.call("shape", {value}); }

// The flow as one of exactly the shape of e.
Flow NodeDerivation::reduced(Flow flow, ExprId e) {
  const ShapeOf shape = shape_of(e);
  if (flow.shape == shape) return flow;
  flow.adjoint = write_.call("sum_to", {flow.adjoint, shape_expr(value(e))});
  flow.shape = shape;
  return flow;
}

}  // namespace rml::derivation
