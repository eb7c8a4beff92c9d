// Expressions of C: text, how strongly it binds, and which buffers it reads.
//
// They are put together without parentheses that a reader does not need and with those that compilers ask for.
#pragma once

#include <set>
#include <string>

#include "lowering/loops/loops.h"

namespace rml::c99 {

// As in the grammar of C, the strongest last.
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
  std::set<loops::BufferId> reads = {};  // what may be written later
};

// The text, in parentheses where it binds less than `least`.
std::string bound(const Expression&, Binding least);

Expression name_of(std::string text);
Expression call(const std::string& function, const std::vector<Expression>& operands);
Expression binary(const Expression& a, const std::string& sign, const Expression& b, Binding);
Expression choice(const Expression& condition, const Expression& a, const Expression& b);
Expression with_sign(const std::string& sign, const Expression&);

}  // namespace rml::c99
