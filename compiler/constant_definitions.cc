// VALUE is parsed as the item `const value = VALUE;` in a program of its own. The tree of VALUE
// is then copied into the arena of the main program, and its symbols are interned there.
#include "compiler/constant_definitions.h"

#include <algorithm>
#include <optional>

namespace rml {
namespace {

class Transplant {
 public:
  // The position `first` in the text of `from` becomes the beginning of `as`.
  Transplant(const Program& from, Program& to, std::uint32_t first, Span as)
      : from_(from), to_(to), first_(first), as_(as) {}

  ExprId expr(ExprId e) {
    if (!e.valid()) return e;
    ast::Expr copy = std::visit([&](auto form) -> ast::Expr { return moved(std::move(form)); }, from_[e]);
    return to_.add(std::move(copy), place(from_.span(e)));
  }

 private:
  Span place(Span s) const {
    const auto moved_to = [&](std::uint32_t at) { return std::min(as_.end, as_.begin + (at - first_)); };
    return {as_.file, moved_to(s.begin), moved_to(s.end)};
  }
  Symbol symbol(Symbol s) { return s.valid() ? to_.names.intern(from_.text(s)) : s; }
  void exprs(std::vector<ExprId>& list) {
    for (ExprId& e : list) e = expr(e);
  }

  ast::Expr moved(ast::Name f) { return ast::Name{symbol(f.symbol), symbol(f.qualifier)}; }
  ast::Expr moved(ast::BoolLiteral f) { return f; }
  ast::Expr moved(ast::IntLiteral f) { return f; }
  ast::Expr moved(ast::FloatLiteral f) { return f; }
  ast::Expr moved(ast::TextLiteral f) { return f; }
  ast::Expr moved(ast::Error f) { return f; }
  ast::Expr moved(ast::Unary f) { return ast::Unary{f.op, expr(f.operand)}; }
  ast::Expr moved(ast::Binary f) {
    const ExprId left = expr(f.left);
    return ast::Binary{f.op, left, expr(f.right)};
  }
  ast::Expr moved(ast::If f) {
    f.condition = expr(f.condition);
    f.then_branch = expr(f.then_branch);
    f.else_branch = expr(f.else_branch);
    return f;
  }
  ast::Expr moved(ast::Fby f) {
    f.init = expr(f.init);
    f.next = expr(f.next);
    return f;
  }
  ast::Expr moved(ast::Post f) { return ast::Post{expr(f.operand)}; }
  ast::Expr moved(ast::When f) {
    f.operand = expr(f.operand);
    f.condition = expr(f.condition);
    return f;
  }
  ast::Expr moved(ast::Merge f) {
    f.condition = expr(f.condition);
    f.on_true = expr(f.on_true);
    f.on_false = expr(f.on_false);
    return f;
  }
  ast::Expr moved(ast::Array f) {
    exprs(f.elements);
    return f;
  }
  ast::Expr moved(ast::Index f) {
    f.operand = expr(f.operand);
    for (ast::IndexItem& item : f.items) {
      item.span = place(item.span);
      item.at = expr(item.at);
      item.lower = expr(item.lower);
      item.upper = expr(item.upper);
      item.step = expr(item.step);
    }
    return f;
  }
  ast::Expr moved(ast::Call f) {
    for (Symbol& s : f.callee) s = symbol(s);
    f.callee_span = place(f.callee_span);
    for (ast::Argument& a : f.arguments) {
      a.name = symbol(a.name);
      a.name_span = place(a.name_span);
      a.value = expr(a.value);
    }
    if (f.diff) {
      for (Symbol& s : f.diff->optimizer) s = symbol(s);
      exprs(f.diff->optimizer_arguments);
    }
    return f;
  }

  const Program& from_;
  Program& to_;
  std::uint32_t first_;
  Span as_;
};

std::optional<ConstId> const_in_module(const Program& program, ModuleId module, const std::string& name) {
  for (const ConstId c : program.modules[module.index].consts) {
    if (program.text(program.consts[c.index].name) == name) return c;
  }
  return std::nullopt;
}

std::optional<ConstId> find_const(const Program& program, const std::string& name) {
  const ModuleId main{std::size_t{0}};
  const std::size_t dot = name.find('.');
  const std::string last = dot == std::string::npos ? name : name.substr(dot + 1);
  if (dot == std::string::npos) {
    if (const auto found = const_in_module(program, main, name)) return found;
  }
  for (const ast::Import& import : program.modules[0].imports) {
    if (!import.module.valid()) continue;
    const bool matches = dot == std::string::npos
                             ? import.is_path
                             : !import.is_path && program.text(import.alias) == name.substr(0, dot);
    if (!matches) continue;
    if (const auto found = const_in_module(program, import.module, last)) return found;
  }
  return std::nullopt;
}

std::vector<std::string> const_names(const Program& program) {
  std::vector<std::string> names;
  for (const ConstId c : program.modules[0].consts) names.push_back(program.text(program.consts[c.index].name));
  return names;
}

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
         std::string::npos;
}

bool report_bad(const std::string& definition, const std::string& why, Diagnostics& diagnostics,
                const std::string& note = {}) {
  auto& d = diagnostics.report(Code::E0902, {}, "-D " + definition + ": " + why);
  if (!note.empty()) d.note(note);
  return false;
}

bool define(Program& program, const std::string& definition, const ParseOptions& options, SourceMap& sources,
            Diagnostics& diagnostics) {
  const std::size_t equals = definition.find('=');
  if (equals == std::string::npos) return report_bad(definition, "a definition has the form NAME=VALUE", diagnostics);
  const std::string name = definition.substr(0, equals);
  if (!is_name(name)) return report_bad(definition, "'" + name + "' is not a name", diagnostics);
  const auto target = find_const(program, name);
  if (!target) {
    const std::vector<std::string> names = const_names(program);
    const std::string near = did_you_mean(name, names);
    const std::string note = !near.empty()   ? "did you mean '" + near + "'?"
                             : names.empty() ? "the file has no constant"
                                             : "";
    return report_bad(definition, "no constant '" + name + "'", diagnostics, note);
  }
  Diagnostics own;
  const std::string before = "const value = ";
  const Program parsed = parse_text("-D", before + definition.substr(equals + 1) + ";", options, sources, own);
  const auto& consts = parsed.modules[0].consts;
  if (own.has_errors() || consts.size() != 1 || !parsed.modules[0].nodes.empty()) {
    const std::string why = own.all().empty() ? "" : ": " + own.all().front().message;
    return report_bad(definition, "the value is not an expression" + why, diagnostics);
  }
  ast::Const& item = program.consts[target->index];
  // Diagnostics about the value show the option as the user typed it.
  const std::string typed = "-D " + definition;
  const std::uint32_t file = sources.add("command line", typed);
  const auto name_at = static_cast<std::uint32_t>(typed.size() - definition.size());
  const auto value_at = static_cast<std::uint32_t>(name_at + equals + 1);
  const Span value{file, value_at, static_cast<std::uint32_t>(typed.size())};
  item.value = Transplant(parsed, program, static_cast<std::uint32_t>(before.size()), value)
                   .expr(parsed.consts[consts[0].index].value);
  item.name_span = {file, name_at, value_at - 1};
  return true;
}

}  // namespace

bool define_constants(Program& program, const std::vector<std::string>& definitions, const ParseOptions& options,
                      SourceMap& sources, Diagnostics& diagnostics) {
  bool good = true;
  for (const std::string& definition : definitions)
    good = define(program, definition, options, sources, diagnostics) && good;
  return good;
}

}  // namespace rml
