// The first dealt input determines the Boolean and the count; the others are compared with it.
#include "semantics/check/resolve_names_deal.h"

#include <algorithm>

namespace rml {

namespace {

bool is_same_count(const Program& program, ExprId a, ExprId b) {
  if (!a.valid() || !b.valid()) return a == b;
  if (const auto *x = std::get_if<ast::IntLiteral>(&program[a]), *y = std::get_if<ast::IntLiteral>(&program[b]); x && y)
    return x->value == y->value;
  const auto *x = std::get_if<ast::Name>(&program[a]), *y = std::get_if<ast::Name>(&program[b]);
  return x != nullptr && y != nullptr && x->symbol == y->symbol && x->qualifier == y->qualifier;
}

void check_end(const ast::Node& node, const ast::Deal& deal, NameWalk& walk) {
  const std::string& name = walk.text(deal.end);
  const auto end = std::ranges::find(node.inputs, deal.end, &ast::Parameter::name);
  if (end == node.inputs.end()) {
    walk.report(Code::E1001, deal.end_span, "`" + name + "` is not an input of `" + walk.text(node.name) + "`",
                "this must be an input")
        .note("add an input `" + name + ": bool` that is true in the last row of each micro-batch");
    return;
  }
  if (const auto variable = walk.variable(deal.end)) walk.use(*variable);
  if (!end->type || walk.text(end->type->dtype) != "bool" || end->type->has_shape || end->type->clock.valid())
    walk.report(Code::E1001, deal.end_span, "the end of a micro-batch must be a Boolean that is present at every cycle",
                "`" + name + "` is not declared so")
        .label(end->span, "write `" + name + ": bool`");
}

void check_count(ExprId count, NameWalk& walk) {
  if (!count.valid()) return;
  const Program& program = walk.program();
  if (const auto* number = std::get_if<ast::IntLiteral>(&program[count]); number != nullptr && number->value == 0)
    walk.report(Code::E1001, program.span(count), "a step has at least one micro-batch", "write 1 or more");
  const auto* name = std::get_if<ast::Name>(&program[count]);
  if (name == nullptr) return;
  if (name->qualifier.valid()) {
    walk.qualified_constant(*name, program.span(count));
  } else if (const auto variable = walk.variable(name->symbol)) {
    walk.report(Code::E1001, program.span(count), "the number of micro-batches in a step must be known at compile time",
                "`" + walk.text(name->symbol) + "` is a variable")
        .label(walk.variables()[*variable].span, "defined here")
        .note("write a number, or a constant: `const per_step: i32 = 8;`");
  } else if (!walk.scope().constant(name->symbol)) {
    walk.unknown_value(name->symbol, program.span(count));
  }
}

}  // namespace

void check_deal(const ast::Node& node, NameWalk& walk) {
  const ast::Deal* const first = node.deal();
  if (first == nullptr) return;
  check_end(node, *first, walk);
  check_count(first->count, walk);
  for (const ast::Parameter& p : node.inputs) {
    if (!p.deal || (p.deal->end == first->end && is_same_count(walk.program(), p.deal->count, first->count))) continue;
    walk.report(Code::E1001, p.deal->span, "all dealt inputs of a node must be dealt alike", "this `dealt` differs")
        .label(first->span, "from this one")
        .note("each row goes to one rank as a whole: write the same `dealt " + walk.text(first->end) +
              " …` after each of them");
  }
}

}  // namespace rml
