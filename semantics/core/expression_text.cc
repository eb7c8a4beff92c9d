// Both styles print the same expressions. Messages put every operand that is not an atom in
// parentheses. The readable style omits those that the precedence of the language makes
// superfluous, and shows a merge whose branches are sampled by its condition as if-then-else.
#include "semantics/core/expression_text.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "semantics/values/overloaded.h"

namespace rml {

namespace {

// How tightly the operators of the language bind. A `when` within arithmetic has parentheses though it
// needs none.
enum Level : std::uint8_t { loose, sampling, disjunction, conjunction, comparison, sum, product, prefix, tight };

struct Infix {
  std::string_view symbol;
  Level level = tight;
};

Infix infix(const OperatorInfo& row) {
  if (row.lowering != Lowering::elementwise) return {};
  constexpr std::pair<ScalarOp, Infix> symbols[] = {
      {ScalarOp::add, {"+", sum}},
      {ScalarOp::sub, {"-", sum}},
      {ScalarOp::mul, {"*", product}},
      {ScalarOp::div, {"/", product}},
      {ScalarOp::mod, {"%", product}},
      {ScalarOp::eq, {"==", comparison}},
      {ScalarOp::ne, {"!=", comparison}},
      {ScalarOp::lt, {"<", comparison}},
      {ScalarOp::le, {"<=", comparison}},
      {ScalarOp::gt, {">", comparison}},
      {ScalarOp::ge, {">=", comparison}},
      {ScalarOp::logical_and, {"and", conjunction}},
      {ScalarOp::logical_or, {"or", disjunction}},
  };
  for (const auto& [op, symbol] : symbols) {
    if (op == row.scalar) return symbol;
  }
  return {};
}

// True if the text is one name, literal or call, so that no parentheses are needed around it.
bool is_atom(const std::string& text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++open;
    if (text[i] == ')') --open;
    if (text[i] == ' ' && open == 0) return false;
  }
  return true;
}

std::string parenthesized(const std::string& text) { return is_atom(text) ? text : "(" + text + ")"; }

// The text of each element if all are equal; otherwise empty.
std::string uniform_text(const Tensor& tensor) {
  const std::size_t size = byte_size(tensor.dtype());
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.data());
  if (tensor.elements() == 0 || !std::equal(bytes, bytes + tensor.bytes() - size, bytes + size)) return "";
  Tensor one(tensor.dtype(), {});
  std::memcpy(one.data(), bytes, size);
  return to_string(one);
}

struct Text {
  std::string text;
  Level level = tight;
};

struct Style {
  int depth = 2;            // nesting depth to print
  bool readable = false;    // otherwise: of messages
  std::string within = {};  // the path of an instance with a point at its end; its variables are printed without it
};

class Printer {
 public:
  Printer(const Core& core, Style style) : core_(core), style_(std::move(style)) {}

  Text expression(ValueId v, int depth) {
    if (!v.valid() || v.index >= core_.values.size()) return {"?"};
    if (const std::string& name = core_[v].name; !name.empty())
      return {name.starts_with(style_.within) ? name.substr(style_.within.size()) : name};
    // An expression without a name may need itself, by a fby or a post.
    const bool again = style_.readable && std::ranges::find(open_, v) != open_.end();
    if (again || (depth >= style_.depth && !is_short(v))) return {"…"};
    open_.push_back(v);
    Text text = right_side(v, depth);
    open_.pop_back();
    return text;
  }

  Text right_side(ValueId v, int depth) {
    return std::visit(
        Overloaded{
            [&](const core::Const& c) { return constant(c); },
            [&](const core::Input& i) {
              return Text{i.index < core_.inputs.size() ? core_.inputs[i.index].name : std::string("?")};
            },
            [&](const core::Apply& a) { return apply(a, depth); },
            [&](const core::Call& c) { return called(c, depth); },
            [&](const core::Result& r) { return expression(r.call, depth + 1); },
            [&](const core::When& w) { return when(w, depth); },
            [&](const core::Merge& m) { return merge(m, depth); },
            [&](const core::Fby& f) {
              return Text{operand(f.init, depth, disjunction) + " fby " + operand(f.next, depth, disjunction),
                          sampling};
            },
            [&](const core::Post& p) { return Text{"post " + operand(p.operand, depth, prefix), prefix}; },
        },
        core_[v].rhs);
  }

 private:
  // Constants of few elements are printed at any depth, if texts are to be readable.
  bool is_short(ValueId v) const {
    const auto* c = std::get_if<core::Const>(&core_[v].rhs);
    return style_.readable && c != nullptr && c->value.elements() <= 4;
  }

  Text constant(const core::Const& c) const {
    std::string text = style_.readable ? uniform_text(c.value) : "";
    if (text.empty() && c.value.elements() > 4) return {type_string(c.value.dtype(), c.value.shape())};
    if (text.empty()) text = to_string(c.value);
    if (style_.readable && (text == "T" || text == "F")) text = text == "T" ? "true" : "false";
    return {std::move(text)};
  }

  // An operand inside a larger expression, in parentheses if necessary. level: of operators that
  // bind tightly enough to need none.
  std::string operand(ValueId v, int depth, Level level) {
    Text text = expression(v, depth + 1);
    if (style_.readable ? text.level < level : !is_atom(text.text)) return "(" + text.text + ")";
    return std::move(text.text);
  }

  Text call(std::string callee, const std::vector<ValueId>& operands, int depth) {
    callee += "(";
    for (std::size_t i = 0; i < operands.size(); ++i)
      callee += (i > 0 ? ", " : "") + expression(operands[i], depth + 1).text;
    return {callee + ")"};
  }

  Text called(const core::Call& c, int depth) {
    if (c.external >= core_.externals.size()) return call("?", c.operands, depth);
    const ExternalNode& external = core_.externals[c.external];
    return external.in_c() ? call(external.symbol, c.operands, depth) : iteration(external, c.operands, depth);
  }

  // The call of an iteration as the source has it, without the operands that are constants of the
  // body.
  Text iteration(const ExternalNode& external, const std::vector<ValueId>& operands, int depth) {
    const Iteration& it = *external.iteration;
    const std::size_t states = it.states, leading = states + it.sequences;
    std::string text = states == 0 ? "map" : external.outputs.size() > states ? "scan" : "fold";
    text += (it.reverse ? "[reverse] " : " ") + external.symbol + "(";
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool group = i > 0 && (i == states || i == leading);
      text += (group ? "; " : i > 0 ? ", " : "") + expression(operands[i], depth + 1).text;
    }
    return {text + ")"};
  }

  Text apply(const core::Apply& apply, int depth) {
    const OperatorInfo& row = operators()[apply.op];
    if (row.scalar == ScalarOp::logical_not && apply.operands.size() == 1)
      return {"not " + operand(apply.operands[0], depth, prefix), prefix};
    if (const Infix op = infix(row); !op.symbol.empty() && apply.operands.size() == 2) {
      const auto right = static_cast<Level>(op.level + 1);
      return {operand(apply.operands[0], depth, op.level == comparison ? right : op.level) + " " +
                  std::string(op.symbol) + " " + operand(apply.operands[1], depth, right),
              op.level};
    }
    return call(std::string(row.name), apply.operands, depth);
  }

  Text when(const core::When& w, int depth) {
    if (std::ranges::find(branches_, Literal{w.condition, w.positive}) != branches_.end())
      return expression(w.operand, depth);
    return {
        operand(w.operand, depth, prefix) + (w.positive ? " when " : " when not ") + operand(w.condition, depth, tight),
        sampling};
  }

  Text merge(const core::Merge& m, int depth) {
    if (!style_.readable || is_of_source(m.on_true) || is_of_source(m.on_false))
      return {"merge " + operand(m.condition, depth, tight) + " " + operand(m.on_true, depth, tight) + " " +
                  operand(m.on_false, depth, tight),
              loose};
    const std::string condition = operand(m.condition, depth, disjunction);
    const auto branch = [&](ValueId v, bool positive) {
      branches_.push_back({m.condition, positive});
      std::string text = operand(v, depth, disjunction);
      branches_.pop_back();
      return text;
    };
    const std::string yes = branch(m.on_true, true), no = branch(m.on_false, false);
    return {"if " + condition + " then " + yes + " else " + no, loose};
  }

  // True for a branch that is a variable with the clock of the branch. Branches of `if` are sampled.
  bool is_of_source(ValueId branch) const { return !core_[branch].name.empty() && !core_.is_const(branch); }

  struct Literal {
    ValueId condition;
    bool positive;
    bool operator==(const Literal&) const = default;
  };

  const Core& core_;
  const Style style_;
  std::vector<Literal> branches_;  // the conditions that hold where the current operand is used
  std::vector<ValueId> open_;      // the expressions around the current one
};

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

constexpr int deepest = 6;

std::string cut(const std::string& text, std::size_t most) {
  if (characters(text) <= most) return text;
  std::size_t end = 0;
  for (std::size_t shown = 0; shown + 1 < most; ++shown) do
      ++end;
    while ((static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u);
  return text.substr(0, end) + "…";
}

// The deepest print that is short enough. If that says little, the end of a deeper one is cut instead.
template <class Print>
std::string fitted(std::size_t most, Print print) {
  std::string deeper;
  for (int depth = deepest; depth > 0; --depth) {
    std::string text = print(depth);
    const std::size_t length = characters(text);
    if (length <= most) return deeper.empty() || 2 * length > most ? text : cut(deeper, most);
    deeper = std::move(text);
  }
  return cut(deeper, most);
}

}  // namespace

std::string describe(const Core& core, ValueId v) { return Printer(core, {}).expression(v, 0).text; }

std::string clock_string(const Core& core, ClockId clock) {
  std::string text;
  for (std::size_t depth = 0; clock.valid() && clock.index < core.clocks.size() && depth < core.clocks.size();
       ++depth) {
    if (clock == base_clock) return "base" + text;
    if (clock == never_clock) return "never" + text;
    const Clock& c = core[clock];
    text = (c.positive ? " on " : " on not ") + parenthesized(describe(core, c.condition)) + text;
    clock = c.parent;
  }
  return "?" + text;
}

std::string right_side(const Core& core, ValueId v, std::size_t most) {
  const InstanceId instance = core[v].instance;
  const std::string path = instance.valid() ? core.instances[instance.index].path : "";
  const std::string within = path.empty() ? "" : path + ".";
  return fitted(most, [&](int depth) { return Printer(core, {depth, true, within}).right_side(v, 0).text; });
}

std::vector<std::string> readable_names(const Core& core) {
  constexpr std::size_t longest = 90;
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (std::size_t i = 0; i < core.values.size(); ++i) {
    const ValueId v{i};
    std::string name = fitted(longest, [&](int depth) { return Printer(core, {depth, true}).expression(v, 0).text; });
    const int number = ++count[name];
    names.push_back(number == 1 ? name : name + " (" + std::to_string(number) + ")");
  }
  return names;
}

}  // namespace rml
