// Classes of conditions, by number.
//
// A loop follows copies, since chains of equations may be long; each variable on the chain stores
// the result. Trees of pure operators are numbered bottom-up by their operator and their
// operands' numbers; any other expression by its own ExprId. Example: in `c = not d; e = c;`, a
// query for e walks e, c, d; d is its own class, and c and e become (class of d, negative).
#include "semantics/check/infer_clocks_conditions.h"

#include <bit>

namespace rml {

namespace {

enum Tag : std::uint64_t {
  tag_variable,
  tag_const,
  tag_bool,
  tag_int,
  tag_float,
  tag_operator,
  tag_if,
  tag_index,
  tag_range,
  tag_opaque,
  tag_dtype,
};

OperatorId not_operator() {
  static const OperatorId id = operators().require("logical_not");
  return id;
}

}  // namespace

void ConditionClasses::enter(NodeId node) {
  node_ = node;
  const ResolvedNode& resolved = names_.nodes[node.index];
  classes_.assign(1, Class{});
  of_variable_.assign(resolved.variables.size(), ClockCondition{});
  state_.assign(resolved.variables.size(), 0);
  structures_.clear();
  shared_.clear();
  by_structure_.clear();
  std::vector<bool> chosen;
  for (std::uint32_t v = 0; v < resolved.variables.size(); ++v) {
    if (resolved.variables[v].kind == Variable::local) continue;
    ClockCondition c = of_variable(v);
    chosen.resize(classes_.size(), false);
    if (c.constant() || chosen[c.id]) continue;
    chosen[c.id] = true;
    classes_[c.id] = {static_cast<std::int32_t>(v), {}, c.positive, false};
  }
}

std::uint32_t ConditionClasses::add(Class c) {
  classes_.push_back(c);
  return static_cast<std::uint32_t>(classes_.size() - 1);
}

ClockCondition ConditionClasses::unnamed() { return {add({-1, {}, true, true}), true}; }

// Removes `not`, `when`, constants and names, without following equations.
ConditionClasses::Peeled ConditionClasses::peel(ExprId e) const {
  Peeled p{e};
  Peeled outside;  // the condition with the constant's name, used if its value is not a literal
  // Constants of a correct program are acyclic; the bound is for programs with errors.
  for (std::size_t steps = 0; p.expr.valid() && steps < program_.exprs.size(); ++steps) {
    const ast::Expr& x = program_[p.expr];
    const Reference& to = names_.references[p.expr.index];
    if (const auto* b = std::get_if<ast::BoolLiteral>(&x)) {
      p.positive = p.positive == b->value;
      p.literal = true;
      return p;
    }
    if (const auto* u = std::get_if<ast::Unary>(&x); u && u->op == UnaryOp::logical_not) {
      p.positive = !p.positive;
      p.expr = u->operand;
      continue;
    }
    if (const auto* w = std::get_if<ast::When>(&x)) {  // a sample equals its operand wherever both are present
      p.expr = w->operand;
      continue;
    }
    const auto* op = std::get_if<OperatorRef>(&to);
    if (op && op->op == not_operator() && names_.arguments[p.expr.index].size() == 1) {
      p.positive = !p.positive;
      p.expr = names_.arguments[p.expr.index][0];
      continue;
    }
    if (const auto* c = std::get_if<ConstRef>(&to)) {
      if (!outside.expr.valid()) outside = p;
      if (names_.const_errors[c->constant.index]) return outside;
      p.expr = program_.consts[c->constant.index].value;
      continue;
    }
    if (const auto* v = std::get_if<VariableRef>(&to)) p.variable = static_cast<std::int32_t>(v->variable);
    return outside.expr.valid() ? outside : p;
  }
  return p;
}

ClockCondition ConditionClasses::of_variable(std::uint32_t variable) {
  // A visited variable, and whether it equals the first one or the negation of it.
  struct Step {
    std::uint32_t variable;
    bool positive;
  };
  std::vector<Step> path;
  const ResolvedNode& resolved = names_.nodes[node_.index];
  const auto& equations = program_.nodes[node_.index].equations;
  ClockCondition base;
  bool sign = true;
  for (;;) {
    if (state_[variable] == 2) {
      base = of_variable_[variable];
      break;
    }
    bool copy = false;
    if (state_[variable] == 0) {
      state_[variable] = 1;
      path.push_back({variable, sign});
      const Variable& v = resolved.variables[variable];
      if (v.equation != UINT32_MAX && equations[v.equation].targets.size() == 1) {
        Peeled p = peel(equations[v.equation].value);
        if (p.literal) {
          base = {0, true};
          sign = sign == p.positive;
          break;
        }
        if (p.variable >= 0 && static_cast<std::size_t>(p.variable) < state_.size()) {
          variable = static_cast<std::uint32_t>(p.variable);
          sign = sign == p.positive;
          copy = true;
        }
      }
    }
    if (copy) continue;
    base = {add({static_cast<std::int32_t>(variable), {}, true, false}), true};
    break;
  }
  for (const Step& s : path) {
    state_[s.variable] = 2;
    of_variable_[s.variable] = {base.id, base.positive == (s.positive == sign)};
  }
  return path.empty() ? base : of_variable_[path[0].variable];
}

ClockCondition ConditionClasses::of(ExprId e) {
  Peeled p = peel(e);
  if (p.literal) return {0, p.positive};
  if (p.variable >= 0 && static_cast<std::size_t>(p.variable) < of_variable_.size()) {
    ClockCondition c = of_variable(static_cast<std::uint32_t>(p.variable));
    return {c.id, c.positive == p.positive};
  }
  auto [it, fresh] = by_structure_.try_emplace(structure(p.expr));
  if (fresh) it->second = add({-1, p.expr, true, false});
  return {it->second, p.positive};
}

// ---- trees of pure operators -----------------------------------------------------------

std::uint32_t ConditionClasses::pure(const std::vector<std::uint64_t>& key) {
  return shared_.try_emplace(key, static_cast<std::uint32_t>(shared_.size())).first->second;
}

// The number of e's tree. Trees with equal numbers have equal values wherever both are present.
std::uint32_t ConditionClasses::structure(ExprId e) {
  if (!e.valid()) return pure({tag_opaque});
  if (auto it = structures_.find(e.index); it != structures_.end()) return it->second;
  const auto* sampled = std::get_if<ast::When>(&program_[e]);
  const std::uint32_t number = sampled ? structure(sampled->operand) : pure(structure_key(e));
  structures_.emplace(e.index, number);
  return number;
}

void ConditionClasses::key_of(ExprId e, const ast::Name&, std::vector<std::uint64_t>& key) {
  const Reference& to = names_.references[e.index];
  if (const auto* v = std::get_if<VariableRef>(&to)) {
    ClockCondition c = of_variable(v->variable);
    key = {tag_variable, c.id, c.positive};
  } else if (const auto* constant = std::get_if<ConstRef>(&to)) {
    key = {tag_const, constant->constant.index};
  } else if (const auto* dtype = std::get_if<DTypeRef>(&to)) {
    key = {tag_dtype, static_cast<std::uint64_t>(dtype->dtype)};
  }
}

std::vector<std::uint64_t> ConditionClasses::structure_key(ExprId e) {
  std::vector<std::uint64_t> key{tag_opaque, e.index};
  const ast::Expr& x = program_[e];
  const auto* op = std::get_if<OperatorRef>(&names_.references[e.index]);
  auto operands = [&](const std::vector<ExprId>& list) {
    for (ExprId operand : list) key.push_back(structure(operand));
  };
  if (const auto* name = std::get_if<ast::Name>(&x)) {
    key_of(e, *name, key);
  } else if (const auto* b = std::get_if<ast::BoolLiteral>(&x)) {
    key = {tag_bool, b->value};
  } else if (const auto* i = std::get_if<ast::IntLiteral>(&x)) {
    key = {tag_int, i->value};
  } else if (const auto* f = std::get_if<ast::FloatLiteral>(&x)) {
    key = {tag_float, std::bit_cast<std::uint64_t>(f->value)};
  } else if (const auto* choice = std::get_if<ast::If>(&x)) {
    key = {tag_if};
    operands({choice->condition, choice->then_branch, choice->else_branch});
  } else if (const auto* index = std::get_if<ast::Index>(&x)) {
    key = {tag_index, structure(index->operand)};
    for (const ast::IndexItem& item : index->items) {
      key.push_back(item.is_range ? tag_range : tag_index);
      operands({item.at, item.lower, item.upper, item.step});
    }
  } else if (op && !operators()[op->op].random) {
    key = {tag_operator, op->op};
    if (const auto* unary = std::get_if<ast::Unary>(&x))
      operands({unary->operand});
    else if (const auto* binary = std::get_if<ast::Binary>(&x))
      operands({binary->left, binary->right});
    else if (const auto* array = std::get_if<ast::Array>(&x))
      operands(array->elements);
    else
      operands(names_.arguments[e.index]);
  }
  return key;
}

}  // namespace rml
