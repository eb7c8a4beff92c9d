// What the checks say of the node that is differentiated: made once, read by all parts of its derivation.
#pragma once

#include <optional>
#include <vector>

#include "semantics/differentiate/interface.h"

namespace rml::derivation {

// An operand of an operator's application, and its place among the row's operands.
struct Operand {
  ExprId value;
  std::size_t place = 0;
};

struct NodeFacts {
  NodeFacts(const Program& program, const Checked& checked, const DerivativeKey& key);

  const Program& program;
  const Checked& checked;
  const DerivativeKey& key;
  const ast::Node node;  // a copy: the program's nodes move while derived ones are added
  const ResolvedNode& names;
  const TypedNode& types;
  const ClockedNode& clocks;
  static constexpr std::uint32_t unnamed = UINT32_MAX;
  std::vector<std::vector<std::uint32_t>> targets;  // by equation: variables, `unnamed` where a result has no name

  // Expressions move while new ones are added to the program.
  const ast::Expr& expr(ExprId e) const { return program[e]; }
  const Reference& reference(ExprId e) const { return checked.names.references[e.index]; }
  // The arguments of a call, and the operands of an operator otherwise written, in the order of the row's parameters.
  std::vector<ExprId> arguments(ExprId e) const;
  std::vector<Operand> operands(ExprId e) const;
  // The parts of which the value of e is made; conditions are none.
  std::vector<ExprId> value_parts(ExprId e) const;

  template <class Ref>
  bool refers_to(ExprId e) const {
    return std::holds_alternative<Ref>(reference(e));
  }
  const OperatorInfo* row(ExprId e) const;  // null: e is no application of an operator
  bool is_elementwise(ExprId e) const;
  bool is_name(ExprId e) const { return std::holds_alternative<ast::Name>(expr(e)); }
  std::optional<std::uint32_t> variable(ExprId e) const;  // of which e is the name
  // Whether e may be written wherever it is needed: it is the same at every cycle, on every clock.
  bool is_static(ExprId e) const;

  bool is_float_variable(std::uint32_t v) const { return is_float(types.variable_types[v], key.float_variables); }
  bool is_float_expr(ExprId e) const { return is_float(checked.types.expr_types[e.index], key.float_variables); }
  bool is_parameter(std::uint32_t v) const;  // v = param(…)

  const std::string& text(Symbol s) const { return program.text(s); }
  const std::string& variable_text(std::uint32_t v) const { return text(names.variables[v].name); }
  // The variable's name where e is one.
  std::string text_of(ExprId e, const std::string& otherwise) const;
};

}  // namespace rml::derivation
