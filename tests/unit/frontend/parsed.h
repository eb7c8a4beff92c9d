// Parses a text for a test, and prints expressions as S-expressions: `(+ a (* b c))`.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "frontend/parse.h"

namespace rml::test {

struct Parsed {
  SourceMap sources;
  Diagnostics diagnostics;
  Program program;

  explicit Parsed(const std::string& text, const std::string& name = "test.rml") {
    ParseOptions options;
    options.stdlib_dir = RML_STDLIB_DIR;
    program = parse_text(name, text, options, sources, diagnostics);
  }

  std::vector<std::string> messages() const {
    std::vector<std::string> result;
    for (const Diagnostic& d : diagnostics.all()) {
      const LineColumn at = sources.line_column(d.primary.span.file, d.primary.span.begin);
      result.push_back(std::to_string(at.line) + ":" + std::to_string(at.column) + " " +
                       std::string(code_name(d.code)) + " " + d.message);
    }
    return result;
  }

  const ast::Node& node(std::size_t i = 0) const { return program[program.modules[0].nodes.at(i)]; }
  std::string value(std::size_t equation = 0) const { return show(node().equations.at(equation).value); }

  std::string show(ExprId e) const {
    if (!e.valid()) return "";
    return std::visit([&](const auto& form) { return show_form(form); }, program[e]);
  }

 private:
  std::string list(const std::string& head, const std::vector<ExprId>& operands) const {
    std::string result = "(" + head;
    for (const ExprId o : operands) result += " " + show(o);
    return result + ")";
  }
  std::string show_form(const ast::Name& n) const { return program.text(n.symbol); }
  std::string show_form(const ast::BoolLiteral& b) const { return b.value ? "true" : "false"; }
  std::string show_form(const ast::IntLiteral& i) const { return std::to_string(i.value); }
  std::string show_form(const ast::FloatLiteral& f) const { return "f" + std::to_string(f.value); }
  std::string show_form(const ast::TextLiteral& t) const { return "\"" + t.value + "\""; }
  std::string show_form(const ast::Unary& u) const { return list(u.op == UnaryOp::negate ? "-" : "not", {u.operand}); }
  std::string show_form(const ast::Binary& b) const {
    static constexpr const char* names[] = {"or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"};
    return list(names[static_cast<std::size_t>(b.op)], {b.left, b.right});
  }
  std::string show_form(const ast::If& i) const { return list("if", {i.condition, i.then_branch, i.else_branch}); }
  std::string show_form(const ast::Fby& f) const { return list("fby", {f.init, f.next}); }
  std::string show_form(const ast::Post& p) const { return list("post", {p.operand}); }
  std::string show_form(const ast::When& w) const {
    return list(w.positive ? "when" : "when-not", {w.operand, w.condition});
  }
  std::string show_form(const ast::Merge& m) const { return list("merge", {m.condition, m.on_true, m.on_false}); }
  std::string show_form(const ast::Array& a) const { return list("array", a.elements); }
  std::string show_form(const ast::Index& x) const {
    std::string result = "(index " + show(x.operand);
    for (const ast::IndexItem& i : x.items) {
      result += " " + (i.is_range ? show(i.lower) + ":" + show(i.upper) + (i.step.valid() ? ":" + show(i.step) : "")
                                  : show(i.at));
    }
    return result + ")";
  }
  std::string show_form(const ast::Call& c) const {
    std::string result = "(";
    if (c.diff) {
      result += "diff";
      std::string optimizer;
      for (Symbol s : c.diff->optimizer) optimizer += (optimizer.empty() ? "" : ".") + program.text(s);
      if (!optimizer.empty()) result += "[" + list(optimizer, c.diff->optimizer_arguments) + "]";
      result += " ";
    }
    for (std::size_t i = 0; i < c.callee.size(); ++i) result += (i > 0 ? "." : "") + program.text(c.callee[i]);
    for (const ast::Argument& a : c.arguments) {
      result += " " + (a.name.valid() ? program.text(a.name) + "=" : std::string()) + show(a.value);
    }
    return result + ")";
  }
  std::string show_form(const ast::Error&) const { return "<error>"; }
};

// Returns the value of `o` in a node whose only equation is `o = text;`.
inline std::string value_of(const std::string& text) {
  const Parsed parsed("node f(a) -> (o)\n  o = " + text + ";\n");
  if (parsed.diagnostics.has_errors()) return parsed.messages().front();
  return parsed.value();
}

}  // namespace rml::test
