// The set of an elementwise expression is the union over its operands.
#include "semantics/differentiate/shapes.h"

#include "semantics/values/overloaded.h"

namespace rml::derivation {

Shapes::Shapes(const NodeFacts& node) : node_(node), variables_(node.names.variables.size()) {}

const ShapeOf& Shapes::of_variable(std::uint32_t v) {
  if (variables_[v]) return *variables_[v];
  const Variable& variable = node_.names.variables[v];
  variables_[v] = ShapeOf{v};  // a preliminary value, which ends the recursion on cycles
  const bool is_written = variable.type != nullptr && variable.type->has_shape;
  if (!is_written && variable.equation != UINT32_MAX && node_.targets[variable.equation].size() == 1) {
    ShapeOf found = of(node_.node.equations[variable.equation].value);
    variables_[v] = std::move(found);
  }
  return *variables_[v];
}

ShapeOf Shapes::joined(const std::vector<ExprId>& parts) {
  ShapeOf all;
  for (const ExprId part : parts) all.merge(of(part));
  return all;
}

ShapeOf Shapes::of(ExprId e) {
  return std::visit(Overloaded{
                        [&](const ast::Name&) {
                          const auto v = node_.variable(e);
                          return v ? of_variable(*v) : own(e);
                        },
                        [&](const ast::BoolLiteral&) { return ShapeOf{}; },
                        [&](const ast::IntLiteral&) { return ShapeOf{}; },
                        [&](const ast::FloatLiteral&) { return ShapeOf{}; },
                        [&](const ast::Unary& x) { return of(x.operand); },
                        [&](const ast::Binary& x) { return joined({x.left, x.right}); },
                        [&](const ast::If& x) { return joined({x.then_branch, x.else_branch}); },
                        [&](const ast::Fby& x) { return joined({x.init, x.next}); },
                        [&](const ast::Merge& x) { return joined({x.on_true, x.on_false}); },
                        [&](const ast::Post& x) { return of(x.operand); },
                        [&](const ast::When& x) { return of(x.operand); },
                        [&](const ast::Call&) {
                          if (node_.refers_to<ParamRef>(e) || node_.refers_to<StopGradientRef>(e))
                            return of(node_.arguments(e)[0]);
                          return node_.is_elementwise(e) ? joined(node_.value_parts(e)) : own(e);
                        },
                        [&](const auto&) { return own(e); },
                    },
                    node_.expr(e));
}

}  // namespace rml::derivation
