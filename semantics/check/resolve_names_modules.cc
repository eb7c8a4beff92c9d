// Enters the own items of all modules first, so that the result of an import does not depend on
// the order of modules.
#include "semantics/check/resolve_names_modules.h"

#include <algorithm>

namespace rml {

namespace {

constexpr ModuleId prelude{1};

template <class Id>
std::optional<Id> found(const std::unordered_map<std::uint32_t, Id>& names, Symbol name) {
  const auto at = names.find(name.index);
  return at == names.end() ? std::nullopt : std::optional(at->second);
}

void declare_items(const Program& program, ModuleId m, ModuleScope& scope, Diagnostics& diagnostics) {
  for (NodeId n : program.modules[m.index].nodes) {
    const ast::Node& node = program.nodes[n.index];
    auto [it, fresh] = scope.nodes.emplace(node.name.index, n);
    const std::string& name = program.text(node.name);
    if (!fresh) {
      diagnostics.report(Code::E0202, node.name_span, "node `" + name + "` is defined twice", "defined again here")
          .label(program.nodes[it->second.index].name_span, "first defined here");
    } else if (m != prelude && (operators().find(name) || name == "param" || name == "stop_gradient")) {
      diagnostics.report(Code::W0202, node.name_span, "node `" + name + "` hides the operator of the same name",
                         "calls of `" + name + "` mean this node");
    }
  }
  for (ConstId c : program.modules[m.index].consts) {
    const ast::Const& constant = program.consts[c.index];
    auto [it, fresh] = scope.consts.emplace(constant.name.index, c);
    if (!fresh)
      diagnostics
          .report(Code::E0202, constant.name_span, "constant `" + program.text(constant.name) + "` is defined twice",
                  "defined again here")
          .label(program.consts[it->second.index].name_span, "first defined here");
  }
}

// Enters the items of a file imported by path. The importing module's own items hide them. If two
// imports bring different items of one name, that is an error.
void import_items(const Program& program, ModuleId m, const ast::Import& import, ModuleScope& scope,
                  Diagnostics& diagnostics) {
  const ast::Module& from = program.modules[import.module.index];
  auto clash = [&](Symbol name, Span here, Span there) {
    diagnostics
        .report(Code::E0202, import.span, "`" + program.text(name) + "` is defined by two imported files",
                "imported here")
        .label(there, "defined here")
        .label(here, "and here");
  };
  for (NodeId n : from.nodes) {
    const ast::Node& node = program.nodes[n.index];
    auto [it, fresh] = scope.nodes.emplace(node.name.index, n);
    const ast::Node& other = program.nodes[it->second.index];
    if (!fresh && it->second != n && other.module != m && other.module != node.module)
      clash(node.name, node.name_span, other.name_span);
  }
  for (ConstId c : from.consts) {
    const ast::Const& constant = program.consts[c.index];
    auto [it, fresh] = scope.consts.emplace(constant.name.index, c);
    const ast::Const& other = program.consts[it->second.index];
    if (!fresh && it->second != c && other.module != m && other.module != constant.module)
      clash(constant.name, constant.name_span, other.name_span);
  }
}

void report_alias_twice(const Program& program, const ast::Module& module, const ast::Import& second,
                        Diagnostics& diagnostics) {
  const auto first = std::ranges::find_if(
      module.imports, [&](const ast::Import& i) { return i.alias == second.alias && i.module.valid(); });
  const std::string alias = program.text(second.alias);
  Diagnostic& d =
      diagnostics.report(Code::E0202, second.span, "two modules are imported as `" + alias + "`", "again here")
          .label(first->span, "first here");
  if (first->module == second.module)
    d.note("both import the same file: remove one of them");
  else
    d.note("write `import " + second.target + " as NAME;` to give it another name");
}

}  // namespace

std::optional<NodeId> ModuleScope::node(Symbol name) const { return found(nodes, name); }
std::optional<ConstId> ModuleScope::constant(Symbol name) const { return found(consts, name); }
std::optional<ModuleId> ModuleScope::qualified(Symbol qualifier) const { return found(qualifiers, qualifier); }

std::vector<ModuleScope> module_scopes(const Program& program, Diagnostics& diagnostics) {
  std::vector<ModuleScope> scopes(program.modules.size());
  for (std::size_t m = 0; m < program.modules.size(); ++m) declare_items(program, ModuleId{m}, scopes[m], diagnostics);
  const std::vector<ModuleScope> own = scopes;
  for (std::size_t m = 0; m < program.modules.size(); ++m) {
    for (const ast::Import& import : program.modules[m].imports) {
      if (!import.module.valid()) continue;
      if (import.is_path) {
        import_items(program, ModuleId{m}, import, scopes[m], diagnostics);
      } else if (import.alias.valid() && !scopes[m].qualifiers.emplace(import.alias.index, import.module).second) {
        report_alias_twice(program, program.modules[m], import, diagnostics);
      }
    }
    if (m == prelude.index || program.modules.size() <= prelude.index) continue;
    const ModuleScope& common = own[prelude.index];
    scopes[m].nodes.insert(common.nodes.begin(), common.nodes.end());
    scopes[m].consts.insert(common.consts.begin(), common.consts.end());
  }
  return scopes;
}

}  // namespace rml
