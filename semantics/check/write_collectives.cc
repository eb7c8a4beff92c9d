// A table of the collectives, and the rewriting of their calls.
#include "semantics/check/write_collectives.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "semantics/check/resolve_names_modules.h"
#include "semantics/check/syntax.h"

namespace rml {

namespace {

// A collective: its number of arguments in a node with dealt inputs, and whether the library's
// node takes the step (its count and end) before them.
struct Form {
  std::string_view name;
  std::size_t arguments;
  bool of_step;
};
constexpr Form forms[] = {
    {"all_sum", 1, true}, {"all_mean", 1, true}, {"broadcast", 1, false}, {"rank", 0, false}, {"ranks", 0, false}};

const Form* form_of(std::string_view name) {
  const auto* const found = std::ranges::find(forms, name, &Form::name);
  return found == std::end(forms) ? nullptr : found;
}

}  // namespace

bool is_collective(std::string_view name) { return form_of(name) != nullptr; }

std::string written_collective(std::string_view name) {
  return std::string(name) + (form_of(name)->arguments == 0 ? "()" : "(e)");
}

std::string library_collective(std::string_view name) {
  return "steps." + (form_of(name)->of_step ? std::string(name) + "(n, end, e)" : written_collective(name));
}

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

StepsNode as_steps_node(const Program& program, NodeId node) {
  const ast::Node& of = program[node];
  if (of.module != program.steps) return StepsNode::none;
  const StepsNode named = steps_node_named(program.text(of.name));
  return named == StepsNode::none ? StepsNode::other : named;
}

namespace {

// True for a short call with positional arguments, if the program declares no node of that name.
bool is_written(const Program& program, const ast::Call& call, const ModuleScope& scope) {
  if (call.callee.size() != 1 || call.target.valid() || call.builtin || call.diff || call.iteration) return false;
  const Form* const form = form_of(program.text(call.callee[0]));
  return form != nullptr && !scope.node(call.callee[0]) && call.arguments.size() == form->arguments &&
         std::ranges::none_of(call.arguments, [](const ast::Argument& a) { return a.name.valid(); });
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
    const std::string& name = program.text(call.callee[0]);
    call.target = step_node(program, name);
    if (form_of(name)->of_step) {
      const ExprId count = step_count(program, deal), end = program.add(ast::Name{deal.end}, deal.end_span);
      call.arguments = {{{}, deal.span, count}, {{}, deal.end_span, end}, call.arguments[0]};
    }
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
