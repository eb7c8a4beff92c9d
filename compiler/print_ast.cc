// Visits the closed variant of expressions without a catch-all case, so a new form does not
// compile until it is printed here.
#include "compiler/print_ast.h"

#include <sstream>

#include "semantics/check/signature_text.h"

namespace rml {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string text_of_main() {
    const ast::Module& module = program_.modules[0];
    for (const ast::Import& i : module.imports) {
      line("import " + (i.is_path ? "\"" + i.target + "\"" : i.target) +
           (i.alias.valid() && program_.text(i.alias) != i.target ? " as " + program_.text(i.alias) : ""));
    }
    for (const ConstId c : module.consts) {
      const ast::Const& item = program_.consts[c.index];
      line("const " + program_.text(item.name));
      ++depth_;
      annotation(item.type);
      expr(item.value);
      --depth_;
    }
    for (const NodeId n : module.nodes) node(program_[n]);
    for (const ast::Node& n : program_.nodes)
      if (n.derived_from.valid()) node(n);
    return out_.str();
  }

  void operator()(const ast::Name& e) { line("name " + program_.text(e)); }
  void operator()(const ast::BoolLiteral& e) { line(e.value ? "bool true" : "bool false"); }
  void operator()(const ast::IntLiteral& e) { line("int " + std::to_string(e.value)); }
  void operator()(const ast::FloatLiteral& e) {
    std::ostringstream number;
    number.precision(17);
    number << e.value;
    line("float " + number.str());
  }
  void operator()(const ast::TextLiteral& e) { line("text \"" + e.value + "\""); }
  void operator()(const ast::Unary& e) { form(std::string(symbol_text(e.op)), {e.operand}); }
  void operator()(const ast::Binary& e) { form(std::string(symbol_text(e.op)), {e.left, e.right}); }
  void operator()(const ast::If& e) { form("if", {e.condition, e.then_branch, e.else_branch}); }
  void operator()(const ast::Fby& e) { form("fby", {e.init, e.next}); }
  void operator()(const ast::Post& e) { form("post", {e.operand}); }
  void operator()(const ast::When& e) { form(e.positive ? "when" : "when not", {e.operand, e.condition}); }
  void operator()(const ast::Merge& e) { form("merge", {e.condition, e.on_true, e.on_false}); }
  void operator()(const ast::Array& e) { form("array", e.elements); }
  void operator()(const ast::Index& e) {
    line("index");
    ++depth_;
    expr(e.operand);
    for (const ast::IndexItem& i : e.items) {
      if (i.is_range && i.step.valid()) form("range", {i.lower, i.upper, i.step});
      if (i.is_range && !i.step.valid()) form("range", {i.lower, i.upper});
      if (!i.is_range) expr(i.at);
    }
    --depth_;
  }
  void operator()(const ast::Call& e) {
    std::string name;
    for (const Symbol s : e.callee) name += (name.empty() ? "" : ".") + program_.text(s);
    std::string iterator;
    if (const auto& how = e.iteration) {
      iterator = ast::iterator_name(how->kind) + std::string(how->reverse ? " reverse " : " ") +
                 std::to_string(how->states) + " " + std::to_string(how->sequences) + " ";
    }
    line((e.diff ? "call diff " : "call ") + iterator + name);
    ++depth_;
    if (e.diff && !e.diff->optimizer.empty()) {
      std::string optimizer;
      for (const Symbol s : e.diff->optimizer) optimizer += (optimizer.empty() ? "" : ".") + program_.text(s);
      form("optimizer " + optimizer, e.diff->optimizer_arguments);
    }
    for (const ast::Argument& a : e.arguments) {
      if (a.name.valid()) {
        form("argument " + program_.text(a.name), {a.value});
      } else {
        expr(a.value);
      }
    }
    --depth_;
  }
  void operator()(const ast::Error&) { line("error"); }

 private:
  void line(const std::string& text) { out_ << std::string(2 * depth_, ' ') << text << '\n'; }

  void expr(ExprId e) {
    if (!e.valid()) return line("nothing");
    std::visit(*this, program_[e]);
  }

  void form(const std::string& head, const std::vector<ExprId>& children) {
    line(head);
    ++depth_;
    for (const ExprId e : children) expr(e);
    --depth_;
  }

  void annotation(const std::optional<ast::TypeAnnotation>& type) {
    if (!type) return;
    std::string text = "type " + program_.text(type->dtype);
    if (type->clock.valid())
      text += std::string(type->clock_positive ? " when " : " when not ") + program_.text(type->clock);
    form(text, type->shape);
  }

  void named(const std::string& head, Symbol name, const std::optional<ast::TypeAnnotation>& type) {
    line(head + (name.valid() ? program_.text(name) : "_"));
    ++depth_;
    annotation(type);
    --depth_;
  }

  void dealt(const ast::Deal& deal) {
    ++depth_;
    const auto count = deal.count.valid() ? std::vector{deal.count} : std::vector<ExprId>{};
    form("dealt " + program_.text(deal.end), count);
    --depth_;
  }

  void node(const ast::Node& n) {
    const std::string_view kind = n.derived_from.valid() ? "derived node " : n.external() ? "external node " : "node ";
    line(std::string(kind) + program_.text(n.name));
    ++depth_;
    for (const ast::Parameter& p : n.inputs) {
      named("input ", p.name, p.type);
      if (p.deal) dealt(*p.deal);
    }
    for (const ast::Parameter& p : n.outputs) named("output ", p.name, p.type);
    for (const ast::Equation& e : n.equations) {
      line("equation");
      ++depth_;
      for (const ast::Target& t : e.targets) named("target ", t.name, t.type);
      expr(e.value);
      --depth_;
    }
    for (const ast::Assert& a : n.asserts) form(a.message ? "assert \"" + *a.message + "\"" : "assert", {a.condition});
    --depth_;
  }

  const Program& program_;
  std::ostringstream out_;
  std::size_t depth_ = 0;
};

}  // namespace

std::string print_ast(const Program& program) { return Printer(program).text_of_main(); }

}  // namespace rml
