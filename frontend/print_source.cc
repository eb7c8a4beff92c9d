// Adds parentheses only where the precedence levels of the grammar (grammar/Rml.g4) require them.
#include "frontend/print_source.h"

#include <array>
#include <charconv>
#include <cmath>

namespace rml {

namespace {

// Ordered from low to high precedence. A construct below the level of its place is put in
// parentheses.
enum Level : int { any, fby, logical_or, logical_and, comparison, sum, product, sampled, prefixed, atom };

struct Spelling {
  const char* text;
  Level level;
};
Spelling spelling(BinaryOp op) {
  constexpr std::array<Spelling, 13> table = {{{"or", logical_or},
                                               {"and", logical_and},
                                               {"==", comparison},
                                               {"!=", comparison},
                                               {"<", comparison},
                                               {"<=", comparison},
                                               {">", comparison},
                                               {">=", comparison},
                                               {"+", sum},
                                               {"-", sum},
                                               {"*", product},
                                               {"/", product},
                                               {"%", product}}};
  return table[static_cast<std::size_t>(op)];
}

Level tighter(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

std::string float_text(double value) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  const std::size_t exponent = text.find('e');
  if (text.find('.') == std::string::npos && std::isfinite(value))
    text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
  return text;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string node(const ast::Node& n) {
    out_ = "node " + name(n.name) + "(";
    interface(n.inputs);
    out_ += ") -> (";
    interface(n.outputs);
    out_ += ")\n";
    for (const ast::Equation& q : n.equations) {
      out_ += "  ";
      for (std::size_t t = 0; t < q.targets.size(); ++t) {
        if (t > 0) out_ += ", ";
        out_ += q.targets[t].name.valid() ? name(q.targets[t].name) : "_";
        if (q.targets[t].name.valid() && q.targets[t].type) type(*q.targets[t].type);
      }
      out_ += " = ";
      expr(q.value, any);
      out_ += ";\n";
    }
    for (const ast::Assert& a : n.asserts) {
      out_ += "  assert ";
      expr(a.condition, any);
      if (a.message) out_ += ", \"" + *a.message + "\"";
      out_ += ";\n";
    }
    return std::move(out_);
  }

 private:
  const std::string& name(Symbol s) const { return program_.text(s); }

  void interface(const std::vector<ast::Parameter>& list) {
    for (const ast::Parameter& p : list) {
      if (&p != list.data()) out_ += ", ";
      out_ += name(p.name);
      if (p.type) type(*p.type);
      if (p.deal) deal(*p.deal);
    }
  }

  void deal(const ast::Deal& d) {
    out_ += " dealt " + name(d.end);
    if (!d.count.valid()) return;
    out_ += " by ";
    expr(d.count, atom);
  }

  void type(const ast::TypeAnnotation& t) {
    out_ += ": " + name(t.dtype);
    if (t.has_shape) list("[", t.shape, "]");
    if (t.clock.valid()) out_ += std::string(" when ") + (t.clock_positive ? "" : "not ") + name(t.clock);
  }

  void list(const char* open, const std::vector<ExprId>& parts, const char* close) {
    out_ += open;
    for (std::size_t k = 0; k < parts.size(); ++k) {
      if (k > 0) out_ += ", ";
      expr(parts[k], any);
    }
    out_ += close;
  }

  void expr(ExprId e, Level place) {
    std::visit([&](const auto& x) { form(x, place); }, program_[e]);
  }
  template <class F>
  void at(Level level, Level place, F&& f) {
    if (level < place) out_ += "(";
    f();
    if (level < place) out_ += ")";
  }

  // The qualifier is omitted, as it is for nodes, because the module is imported by its path.
  void form(const ast::Name& x, Level) { out_ += name(x.symbol); }
  void form(const ast::BoolLiteral& x, Level) { out_ += x.value ? "true" : "false"; }
  void form(const ast::IntLiteral& x, Level) { out_ += std::to_string(x.value); }
  void form(const ast::FloatLiteral& x, Level) { out_ += float_text(x.value); }
  void form(const ast::TextLiteral& x, Level) {
    out_ += '"';
    for (const char c : x.value) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
    }
    out_ += '"';
  }
  void form(const ast::Unary& x, Level place) {
    at(prefixed, place, [&] {
      out_ += x.op == UnaryOp::negate ? "-" : "not ";
      expr(x.operand, prefixed);
    });
  }
  void form(const ast::Binary& x, Level place) {
    const Spelling op = spelling(x.op);
    at(op.level, place, [&] {
      expr(x.left, op.level == comparison ? tighter(comparison) : op.level);
      out_ += std::string(" ") + op.text + " ";
      expr(x.right, tighter(op.level));
    });
  }
  void form(const ast::If& x, Level place) {
    at(any, place, [&] {
      out_ += "if ";
      expr(x.condition, any);
      out_ += " then ";
      expr(x.then_branch, any);
      out_ += " else ";
      expr(x.else_branch, any);
    });
  }
  void form(const ast::Fby& x, Level place) {
    at(fby, place, [&] {
      expr(x.init, tighter(fby));
      out_ += " fby ";
      expr(x.next, fby);
    });
  }
  void form(const ast::Post& x, Level place) {
    at(prefixed, place, [&] {
      out_ += "post ";
      expr(x.operand, prefixed);
    });
  }
  void form(const ast::When& x, Level place) {
    at(sampled, place, [&] {
      expr(x.operand, sampled);
      out_ += x.positive ? " when " : " when not ";
      expr(x.condition, atom);
    });
  }
  void form(const ast::Merge& x, Level place) {
    at(any, place, [&] {
      out_ += "merge ";
      expr(x.condition, atom);
      out_ += " ";
      branch(x.on_true);
      out_ += " ";
      branch(x.on_false);
    });
  }
  // A parenthesis after a name would look like a call, so every branch except a name or a literal
  // is in parentheses.
  void branch(ExprId e) {
    const auto& x = program_[e];
    const bool plain = std::holds_alternative<ast::Name>(x) || std::holds_alternative<ast::FloatLiteral>(x) ||
                       std::holds_alternative<ast::IntLiteral>(x) || std::holds_alternative<ast::BoolLiteral>(x);
    if (!plain) out_ += "(";
    expr(e, any);
    if (!plain) out_ += ")";
  }
  void form(const ast::Array& x, Level) { list("[", x.elements, "]"); }
  void form(const ast::Index& x, Level) {
    expr(x.operand, atom);
    out_ += "[";
    for (std::size_t k = 0; k < x.items.size(); ++k) {
      const ast::IndexItem& item = x.items[k];
      if (k > 0) out_ += ", ";
      if (!item.is_range) {
        expr(item.at, any);
        continue;
      }
      if (item.lower.valid()) expr(item.lower, any);
      out_ += ":";
      if (item.upper.valid()) expr(item.upper, any);
      if (!item.step.valid()) continue;
      out_ += ":";
      expr(item.step, any);
    }
    out_ += "]";
  }
  void form(const ast::Call& x, Level) {
    if (x.diff) {
      out_ += "diff";
      if (!x.diff->optimizer.empty()) {
        out_ += "[" + name(x.diff->optimizer.back());
        list("(", x.diff->optimizer_arguments, ")]");
      }
      out_ += " ";
    }
    if (x.iteration) out_ += iterator_text(*x.iteration);
    out_ += name(x.callee.back()) + "(";
    for (std::size_t k = 0; k < x.arguments.size(); ++k) {
      out_ += before_argument(x, k);
      if (x.arguments[k].name.valid()) out_ += name(x.arguments[k].name) + "=";
      expr(x.arguments[k].value, any);
    }
    out_ += ")";
  }
  void form(const ast::Error&, Level) { out_ += "0"; }

  const Program& program_;
  std::string out_;
};

}  // namespace

std::string iterator_text(const ast::Iteration& how) {
  return ast::iterator_name(how.kind) + std::string(how.reverse ? "[reverse] " : " ");
}

std::string_view before_argument(const ast::Call& call, std::size_t argument) {
  if (const auto& how = call.iteration) {
    if (how->kind != ast::Iteration::map && argument == how->states) return "; ";
    if (argument > 0 && argument == how->states + how->sequences) return "; ";
  }
  return argument > 0 ? ", " : "";
}

std::string print_source(const Program& program, const ast::Node& node) { return Printer(program).node(node); }

}  // namespace rml
