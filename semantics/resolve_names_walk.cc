// Variables are found by name, and remembered by position.
#include "semantics/resolve_names_walk.h"

#include <algorithm>

#include "semantics/foreign_names.h"

namespace rml {

std::pair<Variable&, bool> NameWalk::declare(const Variable& variable) {
  const auto [at, fresh] = by_name_.emplace(variable.name.index, static_cast<std::uint32_t>(variables_.size()));
  if (fresh) variables_.push_back(variable);
  return {variables_[at->second], fresh};
}

std::optional<std::uint32_t> NameWalk::variable(Symbol name) const {
  const auto at = by_name_.find(name.index);
  return at == by_name_.end() ? std::nullopt : std::optional(at->second);
}

void NameWalk::use(std::uint32_t variable) {
  if (used_.size() <= variable) used_.resize(variables_.size());
  used_[variable] = true;
}

Diagnostic& NameWalk::report(Code code, Span span, std::string message, std::string label) {
  if (severity(code) == Severity::error) fail();
  return diagnostics_.report(code, span, std::move(message), std::move(label));
}

bool NameWalk::lost_with_import(Symbol qualifier) const {
  return std::ranges::any_of(program_.modules[module_.index].imports, [&](const ast::Import& import) {
    return !import.module.valid() && (import.is_path ? !qualifier.valid() : import.alias == qualifier);
  });
}

bool NameWalk::may_search() {
  if (suggestions_left_ == 0) return false;
  --suggestions_left_;
  return true;
}

void NameWalk::unknown_value(Symbol name, Span span) {
  fail();
  if (broken_ || lost_with_import({}) || !reported_.insert(name.index).second) return;
  const std::string& word = text(name);
  if (const auto node = scope_.node(name)) {
    report(Code::E0207, span, "`" + word + "` is a node, not a value", "call it: `" + word + "(…)`")
        .label(program_.nodes[node->index].name_span, "the node is defined here");
    return;
  }
  if (dtype_named(word)) {
    report(Code::E0207, span, "`" + word + "` is a type, not a value", "a value is needed here");
    return;
  }
  if (operators().find(word)) {
    report(Code::E0207, span, "`" + word + "` is an operator, not a value", "call it: `" + word + "(…)`");
    return;
  }
  std::vector<std::string> candidates = {"inf", "nan"};
  if (may_search()) {
    for (auto [symbol, variable] : by_name_) candidates.push_back(text(Symbol{symbol}));
    for (auto [symbol, constant] : scope_.consts) candidates.push_back(text(Symbol{symbol}));
    std::sort(candidates.begin(), candidates.end());
  }
  std::string meant = did_you_mean(word, candidates);
  Diagnostic& d = report(Code::E0201, span, "unknown name `" + word + "`", "not defined in this scope");
  if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(span, meant, "write `" + meant + "`");
}

std::optional<ConstId> NameWalk::qualified_constant(const std::string& qualified, Span span) {
  const std::size_t dot = qualified.find('.');
  const std::string qualifier = qualified.substr(0, dot), name = qualified.substr(dot + 1);
  for (const auto& [symbol, module] : scope_.qualifiers) {
    if (text(Symbol{symbol}) != qualifier) continue;
    const ast::Module& target = program_.modules[module.index];
    std::vector<std::string> candidates;
    for (const ConstId c : target.consts) {
      candidates.push_back(text(program_.consts[c.index].name));
      if (candidates.back() == name) return c;
    }
    Diagnostic& d =
        report(Code::E0201, span, "module `" + qualifier + "` has no constant `" + name + "`", "not found there");
    const std::string meant = qualifier + "." + did_you_mean(name, candidates);
    if (std::ranges::any_of(target.nodes, [&](NodeId n) { return text(program_.nodes[n.index].name) == name; }))
      d.note("`" + qualified + "(…)` calls the node of this name");
    else if (meant.size() > qualifier.size() + 1)
      d.note("did you mean `" + meant + "`?").fix(span, meant, "write `" + meant + "`");
    return std::nullopt;
  }
  for (const ast::Import& import : program_.modules[module_.index].imports)
    if (import.alias.valid() && text(import.alias) == qualifier && lost_with_import(import.alias)) {
      fail();
      return std::nullopt;
    }
  Diagnostic& d = report(Code::E0201, span, "no module is imported as `" + qualifier + "`", "not an imported module");
  const bool of_variable =
      std::ranges::any_of(variables_, [&](const Variable& v) { return text(v.name) == qualifier; });
  if (of_variable && operators().find(name))
    d.note("`" + name + "` is an operator: write `" + name + "(" + qualifier + ")`");
  else
    d.note("constants of a file that is imported by its path are written without it");
  return std::nullopt;
}

void NameWalk::unknown_callee(const std::string& name, Span span) {
  if (lost_with_import({})) return fail();
  Diagnostic& d = report(Code::E0201, span, "unknown node or operator `" + name + "`", "nothing of this name");
  if (!may_search()) return;
  if (const std::string found = library_node(name); !found.empty()) {
    d.note("the standard library has `" + found + "`: write `import " + found.substr(0, found.find('.')) +
           ";` at the top of the file, and `" + found + "(…)`");
    return;
  }
  if (const std::string_view here = operator_meant(name); !here.empty()) {
    d.note("did you mean `" + std::string(here) + "`? `rmlc explain " + std::string(here) + "` says what it takes");
    return;
  }
  std::vector<std::string> candidates = operators().names();
  candidates.emplace_back("stop_gradient");
  for (auto [symbol, node] : scope_.nodes) candidates.push_back(text(Symbol{symbol}));
  std::sort(candidates.begin(), candidates.end());
  const std::string meant = did_you_mean(name, candidates);
  if (!meant.empty()) d.note("did you mean `" + meant + "`?").fix(span, meant, "write `" + meant + "`");
}

}  // namespace rml
