// Construction and traversal of syntax trees.
#include "semantics/check/syntax.h"

#include <algorithm>

namespace rml {

namespace {

// Calls f on the id of each direct subexpression of e, by reference.
template <class Expr, class F>
void visit_children(Expr& e, F&& f) {
  std::visit(
      [&](auto& x) {
        if constexpr (requires { x.condition; }) f(x.condition);
        if constexpr (requires { x.operand; }) f(x.operand);
        if constexpr (requires { x.left; }) f(x.left), f(x.right);
        if constexpr (requires { x.then_branch; }) f(x.then_branch), f(x.else_branch);
        if constexpr (requires { x.init; }) f(x.init), f(x.next);
        if constexpr (requires { x.on_true; }) f(x.on_true), f(x.on_false);
        if constexpr (requires { x.elements; })
          for (auto& element : x.elements) f(element);
        if constexpr (requires { x.items; })
          for (auto& item : x.items) f(item.at), f(item.lower), f(item.upper), f(item.step);
        if constexpr (requires { x.arguments; })
          for (auto& a : x.arguments) f(a.value);
      },
      e);
}

}  // namespace

ExprId SyntaxWriter::call(const std::string& op, const std::vector<ExprId>& arguments) {
  ast::Call c;
  c.callee = {symbol(op)};
  c.callee_span = span;
  c.builtin = true;
  for (const ExprId a : arguments) c.arguments.push_back({{}, span, a});
  return add(std::move(c));
}

ExprId SyntaxWriter::copy(ExprId e) {
  const ast::Expr original = program_[e];
  return program_.add(map_children(original, [this](ExprId child) { return copy(child); }), program_.span(e));
}

FreshNames::FreshNames(Program& program, const ast::Node& node) : program_(program) {
  const std::function<void(ExprId)> look = [&](ExprId e) {
    if (const auto* name = std::get_if<ast::Name>(&program[e])) taken_.insert(name->symbol);
    for_each_child(program[e], look);
  };
  const auto declare = [&](Symbol name, const std::optional<ast::TypeAnnotation>& type) {
    taken_.insert(name);
    if (type) std::ranges::for_each(type->shape, look);
  };
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ast::Parameter& p : *list) declare(p.name, p.type);
  for (const ast::Equation& q : node.equations) {
    for (const ast::Target& t : q.targets) declare(t.name, t.type);
    look(q.value);
  }
  for (const ast::Assert& a : node.asserts) look(a.condition);
}

Symbol FreshNames::operator()(std::string base) {
  Symbol s = program_.names.intern(base);
  std::uint32_t& next = next_.try_emplace(s, 2).first->second;
  while (!taken_.insert(s).second) s = program_.names.intern(base + std::to_string(next++));
  made_.insert(s);
  return s;
}

NodeWriter::NodeWriter(Program& program, NodeId of, const std::string& name)
    : SyntaxWriter(program), fresh_(program, program[of]) {
  const ast::Node& original = program[of];
  node_.name = program.names.intern(name);
  node_.name_span = span = original.name_span;
  node_.span = original.span;
  node_.module = original.module;
  node_.derived_from = of;
}

Symbol NodeWriter::input(Symbol s) {
  node_.inputs.push_back({s, span, std::nullopt});
  return s;
}

Symbol NodeWriter::output(Symbol s) {
  node_.outputs.push_back({s, span, std::nullopt});
  return s;
}

ExprId NodeWriter::call_node(NodeId node, const std::vector<ExprId>& arguments) {
  ast::Call c;
  c.callee = {program_[node].name};
  c.callee_span = span;
  c.target = node;
  for (const ExprId a : arguments) c.arguments.push_back({{}, span, a});
  return add(std::move(c));
}

ExprId NodeWriter::call_as_itself(NodeId node, const std::vector<ExprId>& arguments) {
  const ExprId e = call_node(node, arguments);
  std::get<ast::Call>(program_.exprs[e.index]).identity = program_.names.intern("");
  return e;
}

void for_each_child(const ast::Expr& e, const std::function<void(ExprId)>& f) {
  visit_children(e, [&](const ExprId& child) {
    if (child.valid()) f(child);
  });
}

ast::Expr map_children(const ast::Expr& e, const std::function<ExprId(ExprId)>& f) {
  ast::Expr copy = e;
  visit_children(copy, [&](ExprId& child) {
    if (child.valid()) child = f(child);
  });
  return copy;
}

}  // namespace rml
