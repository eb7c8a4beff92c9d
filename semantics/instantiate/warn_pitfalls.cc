// Walks over the expressions of each node of the user.
//
// A call remembers if its node, or a node that this one calls, contains `fby` or a parameter that
// takes steps. `f(x) when c` is no mistake if f decides by itself when its memory moves: if an
// argument depends on c, or if c depends on a Boolean argument, as in `average_end(end, x) when end`.
#include "semantics/instantiate/warn_pitfalls.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semantics/check/signature_text.h"
#include "semantics/check/syntax.h"

namespace rml {

namespace {

// ---- numbers ---------------------------------------------------------------------------

// A number that the user wrote, perhaps with a sign.
struct Literal {
  double value = 0;
  ExprId number;  // without the sign
};

std::optional<Literal> literal(const Program& program, ExprId e) {
  if (const auto* unary = std::get_if<ast::Unary>(&program[e]); unary != nullptr && unary->op == UnaryOp::negate) {
    auto inner = literal(program, unary->operand);
    if (inner) inner->value = -inner->value;
    return inner;
  }
  if (const auto* real = std::get_if<ast::FloatLiteral>(&program[e])) return Literal{real->value, e};
  if (const auto* whole = std::get_if<ast::IntLiteral>(&program[e]))
    return Literal{static_cast<double>(whole->value), e};
  return std::nullopt;
}

// True if the decimal number that reads as `value` equals it. A decimal number of up to 17 digits
// that is exact has no further digits.
bool is_exact(double value, DType dtype) {
  if (!std::isfinite(value)) return true;
  if (dtype == DType::f32 && static_cast<double>(static_cast<float>(value)) != value) return false;
  char digits[80];
  std::snprintf(digits, sizeof digits, "%.60e", std::fabs(value));
  constexpr std::size_t first_unwritten = 18;  // after one digit, the point and 16 digits
  const std::string_view text = digits;
  return text.substr(first_unwritten, text.find('e') - first_unwritten).find_first_not_of('0') == std::string::npos;
}

// A power of ten that is small beside `value`, but larger than the rounding errors of its type.
std::string tolerance(double value, DType dtype) {
  const int digits = dtype == DType::f64 ? 9 : 5;
  const int power = static_cast<int>(std::floor(std::log10(std::fabs(value)))) - digits;
  return power == 0 ? "1.0" : "1e" + std::to_string(power);
}

// ---- memory ----------------------------------------------------------------------------

// By NodeId: true if the node has memory that moves at each cycle at which it is called.
class Memories {
 public:
  explicit Memories(const Checked& checked) : checked_(checked), remembers_(checked.names.nodes.size(), false) {
    for (const NodeId n : checked.names.order) remembers_[n.index] = of_node(n);
  }
  bool operator[](NodeId n) const { return remembers_[n.index]; }

 private:
  bool of_node(NodeId n) const {
    const ast::Node& node = (*checked_.program)[n];
    const auto has = [&](ExprId e) { return e.valid() && in(e); };
    return std::ranges::any_of(node.equations, [&](const ast::Equation& q) { return has(q.value); }) ||
           std::ranges::any_of(node.asserts, [&](const ast::Assert& a) { return has(a.condition); });
  }

  bool in(ExprId e) const {
    const ast::Expr& form = (*checked_.program)[e];
    if (std::holds_alternative<ast::Fby>(form)) return true;
    const Reference& to = checked_.names.references[e.index];
    if (const auto* node = std::get_if<NodeRef>(&to); node != nullptr && remembers_[node->node.index]) return true;
    if (std::holds_alternative<ParamRef>(to) && checked_.names.arguments[e.index].size() > 1) return true;
    bool found = false;
    for_each_child(form, [&](ExprId child) { found = found || in(child); });
    return found;
  }

  const Checked& checked_;
  std::vector<bool> remembers_;
};

// ---- one node --------------------------------------------------------------------------

constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

struct Comparison {
  std::string_view op;  // "eq", "lt", …
  ExprId left, right;
};

class Pitfalls {
 public:
  Pitfalls(const Checked& checked, const Memories& memories, NodeId n, Diagnostics& diagnostics)
      : checked_(checked),
        program_(*checked.program),
        memories_(memories),
        node_(program_[n]),
        variables_(checked.names.nodes[n.index].variables),
        diagnostics_(diagnostics) {}

  void run() {
    for (const ast::Equation& q : node_.equations) visit(q.value);
    for (const ast::Assert& a : node_.asserts) visit(a.condition);
  }

 private:
  void visit(ExprId e) {
    if (!e.valid()) return;
    if (const auto* when = std::get_if<ast::When>(&program_[e])) sampled(e, *when);
    if (const auto found = comparison(e)) compared(e, *found);
    for_each_child(program_[e], [this](ExprId child) { visit(child); });
  }

  std::string text(ExprId e) const { return expression_text(program_, e); }

  // ---- comparisons

  std::optional<Comparison> comparison(ExprId e) const {
    const auto* op = std::get_if<OperatorRef>(&checked_.names.references[e.index]);
    if (op == nullptr) return std::nullopt;
    const std::string_view name = operators()[op->op].name;
    if (std::ranges::find(comparisons, name) == std::end(comparisons)) return std::nullopt;
    if (const auto* binary = std::get_if<ast::Binary>(&program_[e]))
      return Comparison{name, binary->left, binary->right};
    const OrderedArguments& arguments = checked_.names.arguments[e.index];
    if (arguments.size() != 2 || !arguments[0].valid() || !arguments[1].valid()) return std::nullopt;
    return Comparison{name, arguments[0], arguments[1]};
  }

  void compared(ExprId e, const Comparison& c) {
    for (const auto& [side, other] : {std::pair{c.right, c.left}, std::pair{c.left, c.right}}) {
      const auto number = literal(program_, side);
      if (!number) continue;
      if (std::isnan(number->value)) return with_nan(e, c, other);
      if ((c.op == "eq" || c.op == "ne") && reads_stream(other)) return with_number(e, c, *number, side, other);
    }
  }

  // Returns the replacement of a comparison: in parentheses if the comparison has them or is a call, because it may
  // then be an operand of `not`.
  std::string as_operand(ExprId e, const Comparison& c, const std::string& replacement) const {
    return program_.span(e).begin == program_.span(c.left).begin ? replacement : "(" + replacement + ")";
  }

  void with_nan(ExprId e, const Comparison& c, ExprId other) {
    const bool differs = c.op == "ne";
    Diagnostic& d =
        diagnostics_.report(Code::W0301, program_.span(e),
                            "`" + short_text(program_, e) + "` is " + (differs ? "true" : "false") + " for every value",
                            differs ? "always true" : "always false");
    d.note("no value is equal to, less than or greater than `nan`, not even `nan`; `isnan(x)` tests for it");
    if ((c.op != "eq" && !differs) || literal(program_, other)) return;
    const std::string test = "isnan(" + text(other) + ")";
    const std::string written = differs ? as_operand(e, c, "not " + test) : test;
    d.fix(program_.span(e), written, "write `" + written + "`", true);
  }

  void with_number(ExprId e, const Comparison& c, const Literal& number, ExprId side, ExprId other) {
    const TypeTerm type = checked_.types.expr_types[number.number.index];
    const DType dtype = type.variable >= 0 ? DType::f64 : type.dtype;
    const bool is_real = std::holds_alternative<ast::FloatLiteral>(program_[number.number]);
    if (type.variable >= 0 ? !is_real : !is_float(dtype)) return;
    if (is_exact(number.value, dtype)) return;
    const std::string written = text(side);
    Diagnostic& d = diagnostics_.report(
        Code::W0302, program_.span(e),
        "`" + short_text(program_, e) + "` compares with a number that has no exact binary form", {});
    d.label(program_.span(side), "`" + written + "` is rounded to " +
                                     (type.variable >= 0 ? "the float type of its context" : std::string(name(dtype))));
    d.note("a computed value is rarely equal to it: `0.1 + 0.2 == 0.3` is false");
    d.note("if equality is meant, give the number a name: `const level = " + written + ";`");
    const std::string close = as_operand(e, c,
                                         "abs(" + sampled_text(program_, other) + (number.value < 0 ? " + " : " - ") +
                                             text(number.number) + ") " + (c.op == "eq" ? "< " : ">= ") +
                                             tolerance(number.value, type.variable >= 0 ? DType::f32 : dtype));
    d.fix(program_.span(e), close, "write `" + close + "`", true);
  }

  // ---- sampled calls

  void sampled(ExprId e, const ast::When& when) {
    const auto* call = std::get_if<ast::Call>(&program_[when.operand]);
    const auto* callee = std::get_if<NodeRef>(&checked_.names.references[when.operand.index]);
    if (call == nullptr || callee == nullptr || call->diff || call->iteration || !memories_[callee->node]) return;
    const bool streams = std::ranges::any_of(call->arguments, [&](const auto& a) { return reads_stream(a.value); });
    if (!streams || decides_itself(*call, when.condition)) return;
    const std::string condition = (when.positive ? "" : "not ") + atom_text(program_, when.condition);
    const std::string called = program_.text(call->callee.back());
    Diagnostic& d = diagnostics_.report(
        Code::W0401, program_.span(when.operand),
        "`" + called + "` is computed at every cycle, but its value is used only when `" + condition + "`",
        "computed at every cycle");
    d.label(program_.span(when.condition), "sampled here");
    d.note("`" + called +
           "` remembers: its memory (an integral, an average, a count) also moves while its value is not used");
    d.note("if this is meant, give the call an equation of its own: `v = " + called + "(…);`, then `v when " +
           condition + "`");
    if (!samples_plainly(when.operand, callee->node)) return;
    const std::string written = resampled(*call, condition);
    d.fix(program_.span(e), written, "write `" + written + "`", true);
  }

  // True if e depends on a variable or on a call, so that it is present at some cycles only.
  bool reads_stream(ExprId e) const {
    const Reference& to = checked_.names.references[e.index];
    if (std::holds_alternative<VariableRef>(to) || std::holds_alternative<NodeRef>(to)) return true;
    bool found = false;
    for_each_child(program_[e], [&](ExprId child) { found = found || reads_stream(child); });
    return found;
  }

  // Sets seen[v] for each variable on which e depends, at this cycle or through earlier ones.
  void collect(ExprId e, std::vector<bool>& seen) const {
    if (!e.valid()) return;
    if (const auto* v = std::get_if<VariableRef>(&checked_.names.references[e.index])) {
      if (seen[v->variable]) return;
      seen[v->variable] = true;
      const std::uint32_t equation = variables_[v->variable].equation;
      if (equation != UINT32_MAX) collect(node_.equations[equation].value, seen);
    }
    for_each_child(program_[e], [&](ExprId child) { collect(child, seen); });
  }

  bool decides_itself(const ast::Call& call, ExprId condition) const {
    std::vector<bool> of_arguments(variables_.size(), false), of_condition(variables_.size(), false);
    collect(condition, of_condition);
    for (const ast::Argument& a : call.arguments) {
      collect(a.value, of_arguments);
      if (mentions(a.value, text(condition))) return true;
      const auto* v = std::get_if<VariableRef>(&checked_.names.references[a.value.index]);
      const TypeTerm type = checked_.types.expr_types[a.value.index];
      if (v != nullptr && type.variable < 0 && type.dtype == DType::boolean && of_condition[v->variable]) return true;
    }
    const auto* named = std::get_if<VariableRef>(&checked_.names.references[condition.index]);
    return named != nullptr && of_arguments[named->variable];
  }

  bool mentions(ExprId e, const std::string& written) const {
    if (text(e) == written) return true;
    bool found = false;
    for_each_child(program_[e], [&](ExprId child) { found = found || mentions(child, written); });
    return found;
  }

  // True if the inputs and outputs of the node share one clock, so that its arguments can be
  // sampled one by one.
  bool samples_plainly(ExprId call, NodeId callee) const {
    const ClockedNode& clocked = checked_.clocks.nodes[callee.index];
    const std::size_t ports = program_[callee].inputs.size() + program_[callee].outputs.size();
    for (std::size_t v = 0; v < ports && v < clocked.variable_clocks.size(); ++v) {
      const ClockTermId clock = clocked.variable_clocks[v];
      if (clock.valid() && clocked.terms[clock.index].kind != ClockTerm::variable) return false;
    }
    return std::ranges::all_of(checked_.names.arguments[call.index], [](ExprId a) { return a.valid(); });
  }

  std::string resampled(const ast::Call& call, const std::string& condition) const {
    std::string written;
    for (const Symbol s : call.callee) written += (written.empty() ? "" : ".") + program_.text(s);
    written += "(";
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const ast::Argument& a = call.arguments[k];
      if (k > 0) written += ", ";
      if (a.name.valid()) written += program_.text(a.name) + "=";
      written += reads_stream(a.value) ? sampled_text(program_, a.value) + " when " + condition : text(a.value);
    }
    return written + ")";
  }

  const Checked& checked_;
  const Program& program_;
  const Memories& memories_;
  const ast::Node& node_;
  const std::vector<Variable>& variables_;
  Diagnostics& diagnostics_;
};

}  // namespace

void warn_of_pitfalls(const Checked& checked, Diagnostics& diagnostics) {
  const Program& program = *checked.program;
  const Memories memories(checked);
  for (const ast::Module& module : program.modules) {
    if (module.of_library) continue;
    for (const NodeId n : module.nodes) {
      if (checked.names.nodes[n.index].has_errors || checked.types.nodes[n.index].has_errors ||
          checked.clocks.nodes[n.index].has_errors)
        continue;
      Pitfalls(checked, memories, n, diagnostics).run();
    }
  }
}

}  // namespace rml
