// Combines expressions of C and adds parentheses where they are needed.
#include "lowering/c/expression.h"

namespace rml::c99 {

namespace {

Expression made(std::string text, Binding binding, std::initializer_list<const Expression*> of) {
  Expression e{std::move(text), binding};
  for (const Expression* x : of) e.reads.insert(x->reads.begin(), x->reads.end());
  return e;
}

Binding above(Binding b) { return b == Binding::name ? b : static_cast<Binding>(static_cast<int>(b) + 1); }

// The weakest operator that may be the left operand without parentheses: the same one, for chains, or one for which
// compilers give no warning.
Binding least_on_the_left(Binding b) {
  switch (b) {
    case Binding::sum:
    case Binding::product:
      return b;
    case Binding::relation:
    case Binding::equality:
      return Binding::sum;
    case Binding::conjunction:
    case Binding::disjunction:
      return Binding::equality;
    case Binding::bits:
      return Binding::sign;
    case Binding::choice:
    case Binding::sign:
    case Binding::name:
      return above(b);
  }
  return Binding::name;
}

}  // namespace

std::string bound(const Expression& e, Binding least) { return e.binding < least ? "(" + e.text + ")" : e.text; }

Expression name_of(std::string text) { return {std::move(text), Binding::name}; }

Expression call(const std::string& function, const std::vector<Expression>& operands) {
  Expression e = name_of(function + "(");
  for (std::size_t k = 0; k < operands.size(); ++k) {
    e.text += (k > 0 ? ", " : "") + operands[k].text;
    e.reads.insert(operands[k].reads.begin(), operands[k].reads.end());
  }
  e.text += ")";
  return e;
}

Expression binary(const Expression& a, const std::string& sign, const Expression& b, Binding binding) {
  const bool logical = binding == Binding::conjunction || binding == Binding::disjunction;
  const bool chain = logical && a.binding == binding;
  const Binding left = chain ? binding : least_on_the_left(binding);
  const Binding right =
      binding == Binding::sum || binding == Binding::product ? above(binding) : least_on_the_left(binding);
  return made(bound(a, left) + " " + sign + " " + bound(b, right), binding, {&a, &b});
}

Expression choice(const Expression& condition, const Expression& a, const Expression& b) {
  const std::string text = bound(condition, Binding::disjunction) + " ? " + bound(a, Binding::disjunction) + " : " +
                           bound(b, Binding::disjunction);
  return made(text, Binding::choice, {&condition, &a, &b});
}

Expression with_sign(const std::string& sign, const Expression& e) {
  return made(sign + bound(e, Binding::name), Binding::sign, {&e});
}

}  // namespace rml::c99
