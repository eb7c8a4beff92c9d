// Prints expressions back to text.
//
// Each form has a binding strength (grammar/Rml.g4). An operand gets parentheses if it binds more
// loosely than its position requires. Printing stops once the text exceeds the limit, so that
// messages about huge expressions remain cheap. Example: Binary(mul, a, Binary(add, b, c))
// requires strength 8 of its right operand, and the sum has 6: `a * (b + c)`.
#include "semantics/check/signature_text.h"

#include <charconv>

#include "frontend/print_source.h"

namespace rml {

namespace {

// Binding strengths of operators, loosest first.
constexpr int any_strength = 0, fby_strength = 2, or_strength = 3, and_strength = 4, compare_strength = 5,
              add_strength = 6, mul_strength = 7, when_strength = 8, prefix_strength = 9, atom_strength = 10;

int strength(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or:
      return or_strength;
    case BinaryOp::logical_and:
      return and_strength;
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
      return compare_strength;
    case BinaryOp::add:
    case BinaryOp::sub:
      return add_strength;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod:
      return mul_strength;
  }
  return any_strength;
}

class ExpressionPrinter {
 public:
  ExpressionPrinter(const Program& program, std::size_t limit) : program_(program), limit_(limit) {}

  std::string take() { return std::move(out_); }

  void print(ExprId e, int wanted) {
    if (!e.valid() || out_.size() > limit_) return;
    int own = std::visit([&](const auto& f) { return strength_of(f); }, program_[e]);
    if (own < wanted) out_ += "(";
    std::visit([&](const auto& f) { form(f); }, program_[e]);
    if (own < wanted) out_ += ")";
  }

 private:
  static int strength_of(const ast::Name&) { return atom_strength; }
  static int strength_of(const ast::BoolLiteral&) { return atom_strength; }
  static int strength_of(const ast::IntLiteral&) { return atom_strength; }
  static int strength_of(const ast::FloatLiteral&) { return atom_strength; }
  static int strength_of(const ast::TextLiteral&) { return atom_strength; }
  static int strength_of(const ast::Unary&) { return prefix_strength; }
  static int strength_of(const ast::Binary& b) { return strength(b.op); }
  static int strength_of(const ast::If&) { return any_strength; }
  static int strength_of(const ast::Fby&) { return fby_strength; }
  static int strength_of(const ast::Post&) { return prefix_strength; }
  static int strength_of(const ast::When&) { return when_strength; }
  static int strength_of(const ast::Merge&) { return prefix_strength; }
  static int strength_of(const ast::Array&) { return atom_strength; }
  static int strength_of(const ast::Index&) { return atom_strength; }
  static int strength_of(const ast::Call&) { return atom_strength; }
  static int strength_of(const ast::Error&) { return atom_strength; }

  void form(const ast::Name& n) { out_ += program_.text(n); }
  void form(const ast::BoolLiteral& b) { out_ += b.value ? "true" : "false"; }
  void form(const ast::IntLiteral& i) { out_ += std::to_string(i.value); }
  void form(const ast::FloatLiteral& f) {
    char digits[64];
    auto end = std::to_chars(digits, digits + sizeof digits, f.value).ptr;
    std::string s(digits, end);
    if (s.find_first_of(".en") == std::string::npos) s += ".0";
    out_ += s;
  }
  void form(const ast::TextLiteral& t) { out_ += "\"" + t.value + "\""; }
  void form(const ast::Unary& u) {
    out_ += symbol_text(u.op);
    if (u.op == UnaryOp::logical_not) out_ += " ";
    print(u.operand, prefix_strength);
  }
  void form(const ast::Binary& b) {
    int own = strength(b.op);
    print(b.left, own == compare_strength ? own + 1 : own);
    out_ += " ";
    out_ += symbol_text(b.op);
    out_ += " ";
    print(b.right, own + 1);
  }
  void form(const ast::If& i) {
    out_ += "if ";
    print(i.condition, any_strength);
    out_ += " then ";
    print(i.then_branch, any_strength);
    out_ += " else ";
    print(i.else_branch, any_strength);
  }
  void form(const ast::Fby& f) {
    print(f.init, fby_strength + 1);
    out_ += " fby ";
    print(f.next, fby_strength);
  }
  void form(const ast::Post& p) {
    out_ += "post ";
    print(p.operand, prefix_strength);
  }
  void form(const ast::When& w) {
    print(w.operand, when_strength);
    out_ += w.positive ? " when " : " when not ";
    print(w.condition, atom_strength);
  }
  void form(const ast::Merge& m) {
    out_ += "merge ";
    print(m.condition, atom_strength);
    out_ += " ";
    print(m.on_true, atom_strength);
    out_ += " ";
    print(m.on_false, atom_strength);
  }
  void form(const ast::Array& a) {
    out_ += "[";
    for (std::size_t i = 0; i < a.elements.size() && out_.size() <= limit_; ++i) {
      if (i > 0) out_ += ", ";
      print(a.elements[i], any_strength);
    }
    out_ += "]";
  }
  void form(const ast::Index& x) {
    print(x.operand, atom_strength);
    out_ += "[";
    for (std::size_t i = 0; i < x.items.size() && out_.size() <= limit_; ++i) {
      if (i > 0) out_ += ", ";
      print(x.items[i].at, any_strength);
      print(x.items[i].lower, any_strength);
      if (x.items[i].is_range) out_ += ":";
      print(x.items[i].upper, any_strength);
      if (x.items[i].step.valid()) out_ += ":";
      print(x.items[i].step, any_strength);
    }
    out_ += "]";
  }
  void form(const ast::Call& c) {
    // True if the source says `diff f` here: the call is now one of the derived node.
    const bool of_diff = c.target.valid() && program_[c.target].derived_from.valid();
    if (c.diff || of_diff) out_ += "diff ";
    if (c.iteration) out_ += iterator_text(*c.iteration);
    for (std::size_t i = 0; i < c.callee.size(); ++i) {
      if (i > 0) out_ += ".";
      out_ += program_.text(c.callee[i]);
    }
    out_ += "(";
    for (std::size_t i = 0; i < c.arguments.size() && out_.size() <= limit_; ++i) {
      out_ += before_argument(c, i);
      if (c.arguments[i].name.valid()) out_ += program_.text(c.arguments[i].name) + "=";
      print(c.arguments[i].value, any_strength);
    }
    out_ += ")";
  }
  void form(const ast::Error&) { out_ += "…"; }

  const Program& program_;
  std::size_t limit_;
  std::string out_;
};

std::string print(const Program& program, ExprId e, std::size_t limit, int wanted) {
  ExpressionPrinter printer(program, limit);
  printer.print(e, wanted);
  return printer.take();
}

}  // namespace

std::string_view symbol_text(UnaryOp op) {
  switch (op) {
    case UnaryOp::negate:
      return "-";
    case UnaryOp::logical_not:
      return "not";
  }
  return "";
}

std::string_view symbol_text(BinaryOp op) {
  switch (op) {
    case BinaryOp::logical_or:
      return "or";
    case BinaryOp::logical_and:
      return "and";
    case BinaryOp::eq:
      return "==";
    case BinaryOp::ne:
      return "!=";
    case BinaryOp::lt:
      return "<";
    case BinaryOp::le:
      return "<=";
    case BinaryOp::gt:
      return ">";
    case BinaryOp::ge:
      return ">=";
    case BinaryOp::add:
      return "+";
    case BinaryOp::sub:
      return "-";
    case BinaryOp::mul:
      return "*";
    case BinaryOp::div:
      return "/";
    case BinaryOp::mod:
      return "%";
  }
  return "";
}

std::string expression_text(const Program& program, ExprId e) {
  return print(program, e, std::string::npos, any_strength);
}

std::string short_text(const Program& program, ExprId e, std::size_t limit) {
  std::string s = print(program, e, limit, any_strength);
  if (s.size() <= limit) return s;
  std::size_t cut = limit;
  while (cut > 0 && (static_cast<unsigned char>(s[cut]) & 0xC0) == 0x80) --cut;
  return s.substr(0, cut) + "…";
}

std::string atom_text(const Program& program, ExprId e) { return print(program, e, std::string::npos, atom_strength); }

std::string sampled_text(const Program& program, ExprId e) {
  return print(program, e, std::string::npos, when_strength);
}

std::string annotation_text(const Program& program, const ast::TypeAnnotation& type) {
  std::string out = type.dtype.valid() ? program.text(type.dtype) : "";
  if (type.has_shape) {
    out += "[";
    for (std::size_t i = 0; i < type.shape.size(); ++i)
      out += (i > 0 ? ", " : "") + expression_text(program, type.shape[i]);
    out += "]";
  }
  if (type.clock.valid()) out += (type.clock_positive ? " when " : " when not ") + program.text(type.clock);
  return out;
}

}  // namespace rml
