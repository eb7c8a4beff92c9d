// VALUE is parsed as the item `const value = VALUE;` in a program of its own. The tree of VALUE
// is then copied into the arena of the main program, and its symbols are interned there. The copy of
// the entry is made in the same way: the two nodes share no expression, because later passes keep
// one result per expression.
#include "compiler/constant_definitions.h"

#include <algorithm>
#include <optional>

namespace rml {
namespace {

class Transplant {
 public:
  // Copies trees of `from` into `to`. In the places of the copy, the position `first` of the old
  // text becomes the beginning of `as`.
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

// An input with the value that -D gives it.
struct GivenInput {
  Symbol input;
  std::string text;
  ExprId value;
};

// Makes the copy of a node in which given inputs are variables.
class Specialisation {
 public:
  Specialisation(Program& program, NodeId of)
      : program_(program),
        of_(of),
        node_(program[of]),
        copy_(program, program, program[of].span.begin, program[of].span) {}

  SpecialisedNode make(const std::vector<GivenInput>& given) {
    copy_node();
    SpecialisedNode made{{}, of_, {}};
    std::vector<ast::Equation> equations;
    for (const GivenInput& g : given) {
      const auto input = std::ranges::find(node_.inputs, g.input, &ast::Parameter::name);
      equations.push_back({{{input->name, input->span, input->type}}, g.value, program_.span(g.value)});
      node_.inputs.erase(input);
      made.values.emplace_back(g.input, g.text);
    }
    node_.equations.insert(node_.equations.begin(), equations.begin(), equations.end());
    made.node = NodeId{program_.nodes.size()};
    program_.nodes.push_back(std::move(node_));
    return made;
  }

 private:
  void copy_shape(std::optional<ast::TypeAnnotation>& type) {
    if (!type) return;
    for (ExprId& extent : type->shape) extent = copy_.expr(extent);
  }

  void copy_node() {
    for (std::vector<ast::Parameter>* list : {&node_.inputs, &node_.outputs})
      for (ast::Parameter& p : *list) {
        copy_shape(p.type);
        if (p.deal) p.deal->count = copy_.expr(p.deal->count);
      }
    for (ast::Equation& equation : node_.equations) {
      for (ast::Target& t : equation.targets) copy_shape(t.type);
      equation.value = copy_.expr(equation.value);
    }
    for (ast::Assert& a : node_.asserts) a.condition = copy_.expr(a.condition);
  }

  Program& program_;
  NodeId of_;
  ast::Node node_;
  Transplant copy_;
};

class Definitions {
 public:
  Definitions(Program& program, const std::string& entry, const ParseOptions& options, SourceMap& sources,
              Diagnostics& diagnostics)
      : program_(program), options_(options), sources_(sources), diagnostics_(diagnostics) {
    entry_ = choose_entry(program, entry);
    if (entry_ && program[*entry_].external()) entry_.reset();
  }

  // Adds a definition NAME=VALUE. Returns false if an error was reported.
  bool define(const std::string& definition) {
    const std::size_t equals = definition.find('=');
    if (equals == std::string::npos) return report_bad(definition, "a definition has the form NAME=VALUE");
    const std::string name = definition.substr(0, equals);
    if (!is_name(name)) return report_bad(definition, "'" + name + "' is not a name");
    const auto constant = find_const(program_, name);
    const auto input = constant ? std::nullopt : find_input(name);
    if (!constant && !input) return report_unknown(definition, name);
    const auto value = read_value(definition, equals);
    if (!value) return false;
    if (constant) {
      ast::Const& item = program_.consts[constant->index];
      item.value = *value;
      const Span typed = program_.span(*value);
      item.name_span = {typed.file, static_cast<std::uint32_t>(option.size()),
                        static_cast<std::uint32_t>(option.size() + equals)};
    } else {
      std::erase_if(given_, [&](const GivenInput& g) { return g.input == *input; });
      given_.push_back({*input, definition.substr(equals + 1), *value});
    }
    return true;
  }

  std::optional<SpecialisedNode> specialise() {
    if (given_.empty()) return std::nullopt;
    return Specialisation(program_, *entry_).make(given_);
  }

 private:
  static constexpr std::string_view option = "-D ";

  std::optional<Symbol> find_input(const std::string& name) const {
    if (!entry_) return std::nullopt;
    for (const ast::Parameter& p : program_[*entry_].inputs)
      if (program_.text(p.name) == name) return p.name;
    return std::nullopt;
  }

  bool report_bad(const std::string& definition, const std::string& why, const std::string& note = {}) {
    auto& d = diagnostics_.report(Code::E0902, {}, std::string(option) + definition + ": " + why);
    if (!note.empty()) d.note(note);
    return false;
  }

  bool report_unknown(const std::string& definition, const std::string& name) {
    std::vector<std::string> names = const_names(program_);
    std::string why = "no constant '" + name + "'";
    if (entry_) {
      for (const ast::Parameter& p : program_[*entry_].inputs) names.push_back(program_.text(p.name));
      why += ", and no input of `" + program_.text(program_[*entry_].name) + "`";
    }
    const std::string near = did_you_mean(name, names);
    const std::string note = !near.empty()   ? "did you mean '" + near + "'?"
                             : names.empty() ? "the file has no constant"
                                             : "";
    return report_bad(definition, why, note);
  }

  // The tree of VALUE in the program. Messages about it show the option as it was typed.
  std::optional<ExprId> read_value(const std::string& definition, std::size_t equals) {
    Diagnostics own;
    const std::string before = "const value = ";
    const Program parsed = parse_text("-D", before + definition.substr(equals + 1) + ";", options_, sources_, own);
    const auto& consts = parsed.modules[0].consts;
    if (own.has_errors() || consts.size() != 1 || !parsed.modules[0].nodes.empty()) {
      const std::string why = own.all().empty() ? "" : ": " + own.all().front().message;
      report_bad(definition, "the value is not an expression" + why);
      return std::nullopt;
    }
    const std::string typed = std::string(option) + definition;
    const auto value_at = static_cast<std::uint32_t>(option.size() + equals + 1);
    const Span place{sources_.add("command line", typed), value_at, static_cast<std::uint32_t>(typed.size())};
    return Transplant(parsed, program_, static_cast<std::uint32_t>(before.size()), place)
        .expr(parsed.consts[consts[0].index].value);
  }

  Program& program_;
  const ParseOptions& options_;
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  std::optional<NodeId> entry_;
  std::vector<GivenInput> given_;
};

}  // namespace

const std::string* SpecialisedNode::value(Symbol input) const {
  const auto found = std::ranges::find(values, input, &std::pair<Symbol, std::string>::first);
  return found == values.end() ? nullptr : &found->second;
}

std::optional<NodeId> choose_entry(const Program& program, const std::string& wanted) {
  const std::string name = wanted.empty() ? "main" : wanted;
  std::vector<NodeId> runnable;
  for (const NodeId n : program.modules[0].nodes) {
    if (program.text(program[n].name) == name) return n;
    if (!program[n].external()) runnable.push_back(n);
  }
  return wanted.empty() && runnable.size() == 1 ? std::optional(runnable.front()) : std::nullopt;
}

std::vector<ConstId> find_constants(const Program& program, const std::vector<std::string>& names, const char* purpose,
                                    Diagnostics& diagnostics) {
  std::vector<ConstId> found;
  for (const std::string& name : names) {
    if (const auto constant = find_const(program, name)) {
      found.push_back(*constant);
      continue;
    }
    Diagnostic& d = diagnostics.report(Code::E0201, {}, "no constant '" + name + "' to " + purpose);
    const std::vector<std::string> known = const_names(program);
    if (const std::string near = did_you_mean(name, known); !near.empty()) d.note("did you mean '" + near + "'?");
    if (known.empty()) d.note("the file has no constant");
  }
  return found;
}

DefinedConstants define_constants(Program& program, const std::string& entry,
                                  const std::vector<std::string>& definitions, const ParseOptions& options,
                                  SourceMap& sources, Diagnostics& diagnostics) {
  Definitions defined(program, entry, options, sources, diagnostics);
  DefinedConstants result;
  for (const std::string& definition : definitions) result.good = defined.define(definition) && result.good;
  result.entry = defined.specialise();
  return result;
}

}  // namespace rml
