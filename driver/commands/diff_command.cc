// `rmlc diff`: writes the nodes that `diff f` stands for as a source file beside the original one.
#include <algorithm>
#include <iostream>
#include <set>

#include "driver/base/output_file.h"
#include "driver/commands/commands.h"
#include "frontend/format.h"
#include "frontend/print_source.h"
#include "semantics/check/syntax.h"
#include "semantics/differentiate/differentiate.h"
#include "semantics/time/causality.h"

namespace rml {
namespace {

// The import of a module in the printed file: a library module by its name, another one by its path.
std::string import_text(const Session& session, const ast::Module& module) {
  const std::filesystem::path path = session.sources.path(module.file);
  const bool library = path.parent_path() == session.resources.stdlib;
  return "import \"" + (library ? path.filename() : path).string() + "\";\n";
}

// The modules of nodes called in the expression and its parts, such as the rules of an optimiser.
void add_called(const Program& program, ExprId e, std::set<ModuleId>& modules) {
  if (const auto* call = std::get_if<ast::Call>(&program[e]); call != nullptr && call->target.valid())
    modules.insert(program[call->target].module);
  for_each_child(program[e], [&](ExprId part) { add_called(program, part, modules); });
}

// A program without a value has no gradient. A node that gets its shapes from callers is checked where it is called.
void check_causality(const Session& session, const Front& front, NodeId entry, Diagnostics& diagnostics) {
  Diagnostics found;
  const Core core = instantiate(front.checked, entry, {.limits = session.options.limits}, found);
  if (!found.has_errors()) check_causality(core, found);
  if (std::ranges::any_of(found.all(),
                          [](const Diagnostic& d) { return d.code == Code::E0501 || d.code == Code::E0702; }))
    diagnostics.append(found);
}

}  // namespace

int show_derivative(Invocation& invocation, const DiffRequest& request) {
  Session& session = invocation.session;
  Front front = check(session, request.file);
  if (session.failed()) return exit_fault;
  const auto entry = find_entry(session, front);
  if (!entry) return exit_fault;
  check_causality(session, front, *entry, session.diagnostics);
  if (session.failed()) return exit_fault;
  Program& program = *front.program;
  // The values of -D serve the check only: the printed derivative has all inputs of the node.
  const NodeId node = front.specialised ? front.specialised->of : *entry;
  const std::vector<NodeId> nodes = derived_nodes(program, node, session.diagnostics);
  if (nodes.empty()) return exit_fault;
  std::set<ModuleId> modules = {ModuleId{0}};
  for (const NodeId n : nodes) {
    modules.insert(program[n].module);
    for (const ast::Equation& equation : program[n].equations) add_called(program, equation.value, modules);
  }
  std::string text;
  for (const ModuleId m : modules)
    if (m != ModuleId{1}) text += import_text(session, program.modules[m.index]);
  for (const NodeId n : nodes) text += "\n" + print_source(program, program[n]);
  const auto laid_out = format(session.sources.add("diff " + program.text(program[*entry].name), text), session.sources,
                               session.diagnostics);
  if (!laid_out) return exit_fault;
  if (request.output.empty())
    std::cout << *laid_out;
  else if (overwrites_none(request.output, session.files_read(), session.diagnostics))
    write_file(request.output, *laid_out, session.diagnostics);
  return exit_success;
}

}  // namespace rml
