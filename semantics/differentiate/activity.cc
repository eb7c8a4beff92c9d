// Two fixed points: varied variables along the data flow, useful variables against it.
#include "semantics/differentiate/activity.h"

#include "semantics/check/syntax.h"
#include "semantics/differentiate/rules.h"

namespace rml::derivation {

Activity::Activity(const NodeFacts& node, const std::function<bool(NodeId)>& has_parameters)
    : node_(node),
      varied_variables_(node.names.variables.size(), false),
      useful_(node.names.variables.size(), false),
      reached_(node.node.equations.size()),
      users_(node.names.variables.size(), 0) {
  find_varied(has_parameters);
  find_useful();
}

void Activity::find_varied(const std::function<bool(NodeId)>& has_parameters) {
  for (std::uint32_t v = 0; v < varied_variables_.size(); ++v)
    varied_variables_[v] = node_.names.variables[v].kind == Variable::input && node_.is_float_variable(v);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t q = 0; q < node_.node.equations.size(); ++q) {
      if (!vary(node_.node.equations[q].value, has_parameters)) continue;
      for (const std::uint32_t v : node_.targets[q])
        if (v != NodeFacts::unnamed && !varied_variables_[v]) varied_variables_[v] = changed = true;
    }
  }
}

// Marks the varied parts of e, conditions included. Returns true if e itself is varied.
bool Activity::vary(ExprId e, const std::function<bool(NodeId)>& has_parameters) {
  for_each_child(node_.expr(e), [&](ExprId part) { vary(part, has_parameters); });
  const auto variable = node_.variable(e);
  const auto* callee = std::get_if<NodeRef>(&node_.reference(e));
  const bool varied = (variable && varied_variables_[*variable]) || node_.refers_to<ParamRef>(e) ||
                      (callee != nullptr && has_parameters(callee->node)) ||
                      std::ranges::any_of(node_.value_parts(e), [&](ExprId part) { return is_varied(part); });
  if (varied) varied_.insert(e.index);
  return varied;
}

void Activity::find_useful() {
  std::vector<std::uint32_t> work;
  for (std::uint32_t j = 0; j < node_.node.outputs.size(); ++j)
    if (node_.key.outputs[j] != DerivativeKey::no_adjoint)
      work.push_back(static_cast<std::uint32_t>(node_.node.inputs.size()) + j);
  std::vector<bool> read(node_.node.equations.size(), false);
  while (!work.empty()) {
    const std::uint32_t v = work.back();
    work.pop_back();
    if (useful_[v] || !varied_variables_[v]) continue;
    useful_[v] = true;
    const std::uint32_t q = node_.names.variables[v].equation;
    if (q == UINT32_MAX || read[q]) continue;
    read[q] = true;
    reach(node_.node.equations[q].value, reached_[q]);
    for (const std::uint32_t leaf : reached_[q]) {
      ++users_[leaf];
      work.push_back(leaf);
    }
  }
}

// Adds the variables to which an adjoint of e contributes.
void Activity::reach(ExprId e, std::set<std::uint32_t>& out) const {
  const bool is_instance = node_.refers_to<NodeRef>(e);
  if (!is_varied(e) || (!is_instance && !node_.is_float_expr(e))) return;
  if (const auto v = node_.variable(e)) {
    out.insert(*v);
  } else if (const auto* op = std::get_if<OperatorRef>(&node_.reference(e));
             op != nullptr && !std::holds_alternative<ast::Index>(node_.expr(e))) {
    for (const Operand& operand : node_.operands(e))
      if (derivative_rule(op->op, operand.place).adjoint.valid()) reach(operand.value, out);
  } else if (!node_.refers_to<ParamRef>(e)) {
    for (const ExprId part : node_.value_parts(e))
      if (!is_instance || takes_adjoint(part)) reach(part, out);
  }
}

}  // namespace rml::derivation
