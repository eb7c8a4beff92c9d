// Expressions of C: their text, the precedence of their operator, and the buffers that they read.
//
// They are combined without redundant parentheses, except for those that compilers recommend.
#pragma once

#include <set>
#include <string>

#include "lowering/loops/loops.h"

namespace rml::c99 {

// The precedence in the grammar of C, strongest last.
enum class Binding : std::uint8_t {
  choice,
  disjunction,
  conjunction,
  bits,
  equality,
  relation,
  sum,
  product,
  sign,
  name
};

struct Expression {
  std::string text;
  Binding binding = Binding::name;
  std::set<loops::BufferId> reads = {};  // buffers that the expression reads and that may be written later
};

// The text of an expression. It is in parentheses if its operator binds less strongly than `least`.
std::string bound(const Expression&, Binding least);

Expression name_of(std::string text);
Expression call(const std::string& function, const std::vector<Expression>& operands);
Expression binary(const Expression& a, const std::string& sign, const Expression& b, Binding);
Expression choice(const Expression& condition, const Expression& a, const Expression& b);
Expression with_sign(const std::string& sign, const Expression&);

}  // namespace rml::c99
