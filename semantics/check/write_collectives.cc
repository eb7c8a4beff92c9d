// See write_collectives.h.
#include "semantics/check/write_collectives.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "semantics/check/resolve_names_modules.h"
#include "semantics/check/syntax.h"

namespace rml {

bool is_collective(std::string_view name) { return name == "all_sum" || name == "all_mean"; }

ExprId step_count(Program& program, const ast::Deal& deal) {
  if (!deal.count.valid()) return program.add(ast::IntLiteral{1}, deal.span);
  ast::Expr copy = program[deal.count];
  return program.add(std::move(copy), program.span(deal.count));
}

NodeId step_node(const Program& program, std::string_view name) {
  if (!program.steps.valid()) return {};
  const std::vector<NodeId>& nodes = program.modules[program.steps.index].nodes;
  const auto found = std::ranges::find_if(nodes, [&](NodeId n) { return program.text(program[n].name) == name; });
  return found == nodes.end() ? NodeId{} : *found;
}

namespace {

// A call as it is written: by position, of nothing that the program declares.
bool is_written(const Program& program, const ast::Call& call, const ModuleScope& scope) {
  return call.callee.size() == 1 && !call.target.valid() && !call.builtin && !call.diff && !call.iteration &&
         is_collective(program.text(call.callee[0])) && !scope.node(call.callee[0]) && call.arguments.size() == 1 &&
         !call.arguments[0].name.valid();
}

void write_in(Program& program, const ast::Node& node, const ast::Deal& deal, const ModuleScope& scope) {
  std::vector<ExprId> found;
  const std::function<void(ExprId)> look = [&](ExprId e) {
    const auto* call = std::get_if<ast::Call>(&program[e]);
    if (call != nullptr && is_written(program, *call, scope)) found.push_back(e);
    for_each_child(program[e], look);
  };
  for (const ast::Equation& q : node.equations)
    if (q.value.valid()) look(q.value);
  for (const ast::Assert& a : node.asserts) look(a.condition);
  for (const ExprId e : found) {
    auto call = std::get<ast::Call>(program[e]);
    call.target = step_node(program, program.text(call.callee[0]));
    const ExprId count = step_count(program, deal), end = program.add(ast::Name{deal.end}, deal.end_span);
    call.arguments = {{{}, deal.span, count}, {{}, deal.end_span, end}, call.arguments[0]};
    program.exprs[e.index] = std::move(call);
  }
}

}  // namespace

void write_collectives(Program& program) {
  if (!program.steps.valid()) return;
  Diagnostics unheard;
  const std::vector<ModuleScope> scopes = module_scopes(program, unheard);
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const ast::Node& node = program.nodes[n];
    if (const ast::Deal* deal = node.deal()) write_in(program, node, *deal, scopes[node.module.index]);
  }
}

}  // namespace rml
