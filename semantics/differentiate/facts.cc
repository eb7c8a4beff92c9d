// Answers queries about the expressions of one node.
#include "semantics/differentiate/facts.h"

#include "semantics/check/syntax.h"

namespace rml::derivation {

NodeFacts::NodeFacts(const Program& p, const Checked& c, const DerivativeKey& k)
    : program(p),
      checked(c),
      key(k),
      node(p[k.node]),
      names(c.names.nodes[k.node.index]),
      types(c.types.nodes[k.node.index]),
      clocks(c.clocks.nodes[k.node.index]) {
  for (const ast::Equation& q : node.equations) targets.emplace_back(q.targets.size(), unnamed);
  for (std::uint32_t v = 0; v < names.variables.size(); ++v) {
    const Variable& variable = names.variables[v];
    if (variable.equation != UINT32_MAX) targets[variable.equation][variable.target] = v;
  }
}

std::vector<ExprId> NodeFacts::arguments(ExprId e) const {
  if (std::holds_alternative<ast::Call>(expr(e))) return checked.names.arguments[e.index];
  std::vector<ExprId> list;
  for (const Operand& operand : operands(e)) list.push_back(operand.value);
  return list;
}

std::vector<Operand> NodeFacts::operands(ExprId e) const {
  const OperatorInfo* of = row(e);
  if (of == nullptr) return {};
  const ast::Expr& x = expr(e);
  if (const auto* u = std::get_if<ast::Unary>(&x)) return {{u->operand, 0}};
  if (const auto* b = std::get_if<ast::Binary>(&x)) return {{b->left, 0}, {b->right, 1}};
  std::vector<Operand> list;
  if (const auto* a = std::get_if<ast::Array>(&x))
    for (const ExprId element : a->elements) list.push_back({element, 0});
  if (!std::holds_alternative<ast::Call>(x)) return list;
  const OrderedArguments& given = checked.names.arguments[e.index];
  const std::size_t repeated = given.size() + 1 - of->parameters.size();
  std::size_t next = 0, place = 0;
  for (const OperatorParameter& p : of->parameters) {
    for (std::size_t k = p.variadic ? repeated : 1; k > 0; --k, ++next)
      if (p.kind == ParameterKind::operand && given[next].valid()) list.push_back({given[next], place});
    if (p.kind == ParameterKind::operand) ++place;
  }
  return list;
}

std::vector<ExprId> NodeFacts::value_parts(ExprId e) const {
  const ast::Expr& x = expr(e);
  if (const auto* i = std::get_if<ast::If>(&x)) return {i->then_branch, i->else_branch};
  if (const auto* m = std::get_if<ast::Merge>(&x)) return {m->on_true, m->on_false};
  if (const auto* w = std::get_if<ast::When>(&x)) return {w->operand};
  if (const auto* s = std::get_if<ast::Index>(&x)) return {s->operand};
  std::vector<ExprId> parts;
  if (!std::holds_alternative<ast::Call>(x)) {
    for_each_child(x, [&](ExprId part) { parts.push_back(part); });
  } else if (refers_to<NodeRef>(e) || refers_to<ParamRef>(e)) {
    for (const ExprId a : checked.names.arguments[e.index])
      if (a.valid()) parts.push_back(a);
  } else {
    for (const Operand& operand : operands(e)) parts.push_back(operand.value);
  }
  return parts;
}

const OperatorInfo* NodeFacts::row(ExprId e) const {
  const auto* op = std::get_if<OperatorRef>(&reference(e));
  return op != nullptr ? &operators()[op->op] : nullptr;
}

bool NodeFacts::is_elementwise(ExprId e) const {
  const OperatorInfo* of = row(e);
  return of != nullptr && of->lowering == Lowering::elementwise;
}

std::optional<std::uint32_t> NodeFacts::variable(ExprId e) const {
  const auto* v = std::get_if<VariableRef>(&reference(e));
  return v != nullptr && is_name(e) ? std::optional(v->variable) : std::nullopt;
}

bool NodeFacts::is_static(ExprId e) const {
  const ast::Expr& x = expr(e);
  if (refers_to<VariableRef>(e) || std::holds_alternative<ast::Fby>(x) || std::holds_alternative<ast::Post>(x))
    return false;
  const OperatorInfo* of = row(e);
  if (std::holds_alternative<ast::Call>(x) && (of == nullptr || of->random)) return false;
  if (const auto known = static_.find(e.index); known != static_.end()) return known->second;
  bool all = true;
  for_each_child(x, [&](ExprId part) { all = all && is_static(part); });
  return static_[e.index] = all;
}

bool NodeFacts::is_parameter(std::uint32_t v) const {
  const std::uint32_t q = names.variables[v].equation;
  return q != UINT32_MAX && refers_to<ParamRef>(node.equations[q].value);
}

std::string NodeFacts::text_of(ExprId e, const std::string& otherwise) const {
  const auto v = variable(e);
  return v ? variable_text(*v) : otherwise;
}

}  // namespace rml::derivation
