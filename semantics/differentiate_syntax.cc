// Writing and walking syntax (see differentiate_syntax.h).
#include "semantics/differentiate_syntax.h"

namespace rml {

namespace {

// Calls f on each part of e, a reference to its id.
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
          for (auto& item : x.items) f(item.at), f(item.lower), f(item.upper);
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
