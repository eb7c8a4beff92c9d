// `rmlc diff`: the nodes that `diff f` stands for, as a source file beside the original one.
#include <algorithm>
#include <iostream>
#include <set>

#include "driver/commands.h"
#include "driver/installation.h"
#include "driver/output_file.h"
#include "frontend/format.h"
#include "frontend/print_source.h"
#include "semantics/causality.h"
#include "semantics/differentiate.h"

namespace rml {
namespace {

// How the printed file imports a module: a library module by its name, another by its path.
std::string import_text(const Compilation& c, const ast::Module& module) {
  const std::filesystem::path path = c.sources.path(module.file);
  const bool library = path.parent_path() == stdlib_folder();
  return "import \"" + (library ? path.filename() : path).string() + "\";\n";
}

// What has no value has no gradient. A node that only its callers give shapes is judged where it is called.
void check_causality(const Compilation& c, const Front& front, NodeId entry, Diagnostics& diagnostics) {
  Diagnostics found;
  const Core core = instantiate(front.checked, entry, {.limits = c.options.limits}, found);
  if (!found.has_errors()) check_causality(core, found);
  if (std::ranges::any_of(found.all(),
                          [](const Diagnostic& d) { return d.code == Code::E0501 || d.code == Code::E0702; }))
    diagnostics.append(found);
}

}  // namespace

int show_derivative(Session& session, const DiffRequest& request) {
  Compilation& c = session.compilation;
  Front front = check(c, request.file);
  if (c.failed()) return exit_fault;
  const auto entry = find_entry(c, front);
  if (!entry) return exit_fault;
  check_causality(c, front, *entry, c.diagnostics);
  if (c.failed()) return exit_fault;
  Program& program = *front.program;
  const std::vector<NodeId> nodes = derived_nodes(program, *entry, c.diagnostics);
  if (nodes.empty()) return exit_fault;
  std::set<ModuleId> modules = {ModuleId{0}};
  for (const NodeId n : nodes) modules.insert(program[n].module);
  std::string text;
  for (const ModuleId m : modules)
    if (m != ModuleId{1}) text += import_text(c, program.modules[m.index]);
  for (const NodeId n : nodes) text += "\n" + print_source(program, program[n]);
  const auto laid_out =
      format(c.sources.add("diff " + program.text(program[*entry].name), text), c.sources, c.diagnostics);
  if (!laid_out) return exit_fault;
  if (request.output.empty())
    std::cout << *laid_out;
  else if (overwrites_none(request.output, c.files_read(), c.diagnostics))
    write_file(request.output, *laid_out, c.diagnostics);
  return exit_success;
}

}  // namespace rml
