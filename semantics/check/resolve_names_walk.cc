// Names map to positions; each variable is identified by its position.
#include "semantics/check/resolve_names_walk.h"

#include <algorithm>

#include "frontend/foreign_syntax.h"
#include "semantics/check/foreign_names.h"
#include "semantics/check/write_collectives.h"

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
  if (const ForeignValue value = value_meant(word); !value.meant.empty() || !value.note.empty()) {
    Diagnostic& d = report(Code::E0201, span, "unknown name `" + word + "`", "not defined in this scope");
    const std::string meant(value.meant);
    if (!meant.empty()) d.fix(span, meant, "write `" + meant + "`", true);
    if (!value.note.empty()) d.note(std::string(value.note));
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

std::optional<ConstId> NameWalk::qualified_constant(const ast::Name& constant, Span span) {
  const std::string &qualifier = text(constant.qualifier), &name = text(constant.symbol);
  if (const auto module = scope_.qualified(constant.qualifier)) {
    const ast::Module& target = program_.modules[module->index];
    std::vector<std::string> candidates;
    for (const ConstId c : target.consts) {
      if (program_.consts[c.index].name == constant.symbol) return c;
      candidates.push_back(text(program_.consts[c.index].name));
    }
    Diagnostic& d =
        report(Code::E0201, span, "module `" + qualifier + "` has no constant `" + name + "`", "not found there");
    const std::string meant = did_you_mean(name, candidates);
    if (std::ranges::any_of(target.nodes, [&](NodeId n) { return program_.nodes[n.index].name == constant.symbol; }))
      d.note("it has a node of this name: call it, `" + program_.text(constant) + "(…)`");
    else if (!meant.empty())
      d.note("did you mean `" + qualifier + "." + meant + "`?")
          .fix(span, qualifier + "." + meant, "write `" + qualifier + "." + meant + "`");
    return std::nullopt;
  }
  if (lost_with_import(constant.qualifier)) {
    fail();
    return std::nullopt;
  }
  if (is_import_in_full(qualifier + "." + name, span)) return std::nullopt;
  Diagnostic& d = report(Code::E0201, span, "no module is imported as `" + qualifier + "`", "not an imported module");
  if (variable(constant.qualifier) && name == "T")
    d.fix(span, "transpose(" + qualifier + ")", "write `transpose(" + qualifier + ")`", true);
  else if (variable(constant.qualifier) && operators().find(name))
    d.note("`" + name + "` is an operator: write `" + name + "(" + qualifier + ")`");
  else
    d.note("a constant of a file that is imported by its path has no prefix");
  return std::nullopt;
}

bool NameWalk::is_import_in_full(const std::string& path, Span span) {
  const std::size_t last = path.rfind('.');
  const std::string module = path.substr(0, last);
  const auto& imports = program_.modules[module_.index].imports;
  const auto found = std::ranges::find_if(imports, [&](const ast::Import& i) {
    return !i.is_path && i.module.valid() && i.target == module && i.target.find('.') != std::string::npos;
  });
  if (found == imports.end()) return false;
  const std::string alias = text(found->alias), meant = alias + path.substr(last);
  report(Code::E0201, span, "no module is imported as `" + module + "`", "the folder is not part of the name")
      .note("`import " + module + (module.ends_with("." + alias) ? "" : " as " + alias) + ";` imports it as `" + alias +
            "`")
      .fix(span, meant, "write `" + meant + "`", true);
  return true;
}

void NameWalk::misplaced_collective(const std::string& name, Span span) {
  const std::string form = written_collective(name);
  const bool adds = name.starts_with("all_");
  report(Code::E1001, span,
         "`" + form +
             (adds ? "` adds one value over the micro-batches of a node with dealt inputs"
                   : "` concerns the ranks that share the rows of a node with dealt inputs"),
         adds ? "not a call of one value in a node with dealt inputs"
              : "not a call `" + form + "` in a node with dealt inputs")
      .note(
          "write `x: f32 dealt end` for the inputs of this node, where `end` ends a micro-batch; or `import steps;` "
          "and `" +
          library_collective(name) + "`");
}

void NameWalk::unknown_callee(const std::string& name, Span span) {
  if (lost_with_import({})) return fail();
  if (is_collective(name)) return misplaced_collective(name, span);
  if (dtype_named(name)) {
    report(Code::E0201, span, "`" + name + "` is a type and cannot be called", "not a node")
        .note("to convert a value, write `cast(" + name + ", x)`");
    return;
  }
  const ForeignPhrase* phrase = foreign_prefix(name);
  if (phrase == nullptr) phrase = foreign_statement(name);
  if (phrase != nullptr) {
    report(Code::E0201, span, std::string(phrase->message), "not a node").note(std::string(phrase->note));
    return;
  }
  Diagnostic& d =
      report(Code::E0201, span, "unknown node or operator `" + name + "`", "no node or operator has this name");
  if (!may_search()) return;
  const std::vector<std::string> found = nodes_of_library(name);
  for (const std::string& node : found)
    d.note("the standard library has `" + node + "`: write `import " + node.substr(0, node.find('.')) +
           ";` at the top of the file, and `" + node + "(…)`");
  if (!found.empty()) return;
  if (const std::string here = operator_meant(name); !here.empty()) {
    d.note("did you mean `" + here + "`? `rmlc explain " + here + "` shows its operands");
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
