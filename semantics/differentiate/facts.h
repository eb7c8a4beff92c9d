// The results of the checks for the node to be differentiated. All parts of its derivation read
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "semantics/differentiate/interface.h"

namespace rml::derivation {

// An operand of an operator's application, and its position among the row's operands.
struct Operand {
  ExprId value;
  std::size_t place = 0;
};

struct NodeFacts {
  NodeFacts(const Program& program, const Checked& checked, const DerivativeKey& key);

  const Program& program;
  const Checked& checked;
  const DerivativeKey& key;
  const ast::Node node;  // a copy, because adding nodes moves those of the program
  const ResolvedNode& names;
  const TypedNode& types;
  const ClockedNode& clocks;
  static constexpr std::uint32_t unnamed = UINT32_MAX;
  std::vector<std::vector<std::uint32_t>> targets;  // indexed by equation: its variables; `unnamed` for `_`

  // Returns a reference that becomes invalid when expressions are added to the program.
  const ast::Expr& expr(ExprId e) const { return program[e]; }
  const Reference& reference(ExprId e) const { return checked.names.references[e.index]; }
  // The arguments of a call, or the operands of an operator in other syntax, in the order of the
  // row's parameters.
  std::vector<ExprId> arguments(ExprId e) const;
  std::vector<Operand> operands(ExprId e) const;
  // The subexpressions from which the value of e is computed. Conditions are not included.
  std::vector<ExprId> value_parts(ExprId e) const;

  template <class Ref>
  bool refers_to(ExprId e) const {
    return std::holds_alternative<Ref>(reference(e));
  }
  const OperatorInfo* row(ExprId e) const;  // null: e is no application of an operator
  bool is_elementwise(ExprId e) const;
  bool is_name(ExprId e) const { return std::holds_alternative<ast::Name>(expr(e)); }
  std::optional<std::uint32_t> variable(ExprId e) const;  // index of the variable that e names, if e is a name
  // True if e may be written anywhere: it has the same value at every cycle, on every clock.
  bool is_static(ExprId e) const;

  bool is_float_variable(std::uint32_t v) const { return is_float(types.variable_types[v], key.float_variables); }
  bool is_float_expr(ExprId e) const { return is_float(checked.types.expr_types[e.index], key.float_variables); }
  bool is_parameter(std::uint32_t v) const;  // true if v is defined by v = param(…)

  const std::string& text(Symbol s) const { return program.text(s); }
  const std::string& variable_text(std::uint32_t v) const { return text(names.variables[v].name); }
  // The name of the variable if e is a variable; else `otherwise`.
  std::string text_of(ExprId e, const std::string& otherwise) const;

 private:
  mutable std::unordered_map<std::uint32_t, bool> static_;  // by expression: the answers of is_static
};

}  // namespace rml::derivation
