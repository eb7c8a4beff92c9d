// Names of values and clocks as messages show them, and small functions of cores.
#include "semantics/core/core.h"

#include <algorithm>

#include "semantics/values/overloaded.h"

namespace rml {

namespace {

std::string_view infix(const OperatorInfo& row) {
  if (row.lowering != Lowering::elementwise) return {};
  constexpr std::pair<ScalarOp, std::string_view> symbols[] = {
      {ScalarOp::add, "+"},         {ScalarOp::sub, "-"}, {ScalarOp::mul, "*"}, {ScalarOp::div, "/"},
      {ScalarOp::mod, "%"},         {ScalarOp::eq, "=="}, {ScalarOp::ne, "!="}, {ScalarOp::lt, "<"},
      {ScalarOp::le, "<="},         {ScalarOp::gt, ">"},  {ScalarOp::ge, ">="}, {ScalarOp::logical_and, "and"},
      {ScalarOp::logical_or, "or"},
  };
  for (const auto& [op, symbol] : symbols) {
    if (op == row.scalar) return symbol;
  }
  return {};
}

constexpr int max_described_depth = 2;  // nesting depth of the expressions that describe prints
std::string expression(const Core& core, ValueId v, int depth);

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

// An operand inside a larger expression, in parentheses if necessary.
std::string atom(const Core& core, ValueId v, int depth) { return parenthesized(expression(core, v, depth + 1)); }

std::string call_text(const Core& core, std::string callee, const std::vector<ValueId>& operands, int depth) {
  callee += "(";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    callee += (i > 0 ? ", " : "") + expression(core, operands[i], depth + 1);
  }
  return callee + ")";
}

// The call of an iteration as the source has it, without the operands that are constants of the
// body.
std::string iteration_text(const Core& core, const ExternalNode& external, const std::vector<ValueId>& operands,
                           int depth) {
  const Iteration& it = *external.iteration;
  const std::size_t states = it.states, leading = states + it.sequences;
  std::string text = states == 0 ? "map" : external.outputs.size() > states ? "scan" : "fold";
  text += (it.reverse ? "[reverse] " : " ") + external.symbol + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool group = i > 0 && (i == states || i == leading);
    text += (group ? "; " : i > 0 ? ", " : "") + expression(core, operands[i], depth + 1);
  }
  return text + ")";
}

std::string apply_text(const Core& core, const core::Apply& apply, int depth) {
  const OperatorInfo& row = operators()[apply.op];
  if (row.scalar == ScalarOp::logical_not && apply.operands.size() == 1) {
    return "not " + atom(core, apply.operands[0], depth);
  }
  if (const auto symbol = infix(row); !symbol.empty() && apply.operands.size() == 2) {
    return atom(core, apply.operands[0], depth) + " " + std::string(symbol) + " " +
           atom(core, apply.operands[1], depth);
  }
  return call_text(core, std::string(row.name), apply.operands, depth);
}

std::string expression(const Core& core, ValueId v, int depth) {
  if (!v.valid() || v.index >= core.values.size()) return "?";
  const Value& value = core[v];
  if (!value.name.empty()) return value.name;
  if (depth >= max_described_depth) return "…";
  const auto sub = [&](ValueId operand) { return atom(core, operand, depth); };
  return std::visit(Overloaded{
                        [](const core::Const& c) {
                          return c.value.elements() <= 4 ? to_string(c.value)
                                                         : type_string(c.value.dtype(), c.value.shape());
                        },
                        [&](const core::Input& i) {
                          return i.index < core.inputs.size() ? core.inputs[i.index].name : std::string("?");
                        },
                        [&](const core::Apply& a) { return apply_text(core, a, depth); },
                        [&](const core::Call& c) {
                          if (c.external >= core.externals.size()) return call_text(core, "?", c.operands, depth);
                          const ExternalNode& external = core.externals[c.external];
                          return external.in_c() ? call_text(core, external.symbol, c.operands, depth)
                                                 : iteration_text(core, external, c.operands, depth);
                        },
                        [&](const core::Result& r) { return expression(core, r.call, depth + 1); },
                        [&](const core::When& w) {
                          return sub(w.operand) + (w.positive ? " when " : " when not ") + sub(w.condition);
                        },
                        [&](const core::Merge& m) {
                          return "merge " + sub(m.condition) + " " + sub(m.on_true) + " " + sub(m.on_false);
                        },
                        [&](const core::Fby& f) { return sub(f.init) + " fby " + sub(f.next); },
                        [&](const core::Post& p) { return "post " + sub(p.operand); },
                    },
                    value.rhs);
}

}  // namespace

std::vector<ValueId> moving_parameters(const Core& core) {
  std::vector<ValueId> moving;
  for (const Parameter& p : core.parameters) {
    if (p.path.empty() || !p.value.valid()) continue;
    const auto* delay = std::get_if<core::Fby>(&core[p.value].rhs);
    if (delay != nullptr && delay->next != p.value) moving.push_back(p.value);
  }
  return moving;
}

std::uint64_t path_key(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string describe(const Core& core, ValueId v) { return expression(core, v, 0); }

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

}  // namespace rml
