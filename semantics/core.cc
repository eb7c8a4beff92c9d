// Core as people and tests see it: names of values and clocks, and the text form.
//
// The text form has one line per thing and a fixed order: entry, externals, instances,
// clocks, values, inputs, outputs, asserts, parameters, watches. A value's line is
//     %5: f32[4] on c2 = when not %3 %4       lstm.h #1 @2:10-17
// (id, type, clock unless base, right-hand side, then what is known of the user's name,
// instance and span). read_core.cc reads exactly this.
#include "semantics/core.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "semantics/overloaded.h"
#include "semantics/read_element.h"

namespace rml {

namespace {

std::string id(ValueId v) { return "%" + (v.valid() ? std::to_string(v.index) : std::string("?")); }

std::string clock_id(ClockId c) {
  if (c == base_clock) return "base";
  if (c == never_clock) return "never";
  return "c" + (c.valid() ? std::to_string(c.index) : std::string("?"));
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool plain(const std::string& name) {
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}
std::string name_text(const std::string& name) { return plain(name) ? name : quoted(name); }

std::string number_text(double value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

std::string span_text(Span span) {
  if (span == Span{}) return "";
  return " @" + std::to_string(span.file) + ":" + std::to_string(span.begin) + "-" + std::to_string(span.end);
}

// Digits where they read back to the same bits (not so for a NaN with a payload), else bytes.
std::string constant_text(const Tensor& tensor) {
  const std::size_t size = byte_size(tensor.dtype());
  const auto* bytes = static_cast<const std::uint8_t*>(tensor.data());
  if (tensor.elements() > 1 && std::equal(bytes, bytes + tensor.bytes() - size, bytes + size)) {
    Tensor one(tensor.dtype(), {});
    std::memcpy(one.data(), bytes, size);
    const std::string text = to_string(one);
    if (read_tensor(one.dtype(), {}, text) == one) return "all " + text;
  }
  std::string text = to_string(tensor);
  if (read_tensor(tensor.dtype(), tensor.shape(), text) == tensor) return text;
  text = "bytes ";
  for (std::size_t i = 0; i < tensor.bytes(); ++i) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 15];
  }
  return text;
}

std::string attribute_text(const Attribute& attribute, ParameterKind kind) {
  if (!attribute.given) return "all";
  switch (kind) {
    case ParameterKind::operand:
      return "?";
    case ParameterKind::integers: {
      if (attribute.scalar && attribute.integers.size() == 1) return std::to_string(attribute.integers[0]);
      std::string text = "[";
      for (const std::int64_t i : attribute.integers) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
      return text + "]";
    }
    case ParameterKind::number:
      return number_text(attribute.number);
    case ParameterKind::dtype:
      return std::string(name(attribute.dtype));
    case ParameterKind::text:
      return quoted(attribute.text);
  }
  return "?";
}

std::string attributes_text(const core::Apply& apply) {
  std::string text;
  std::size_t next = 0;
  for (const OperatorParameter& parameter : operators()[apply.op].parameters) {
    if (parameter.kind == ParameterKind::operand || next >= apply.attributes.size()) continue;
    text += (text.empty() ? "" : ", ") + std::string(parameter.name) + "=" +
            attribute_text(apply.attributes[next++], parameter.kind);
  }
  if (apply.key != 0) {
    char key[24];
    std::snprintf(key, sizeof key, "0x%llx", static_cast<unsigned long long>(apply.key));
    text += (text.empty() ? "" : ", ") + std::string("key=") + key;
  }
  return text.empty() ? "" : " {" + text + "}";
}

std::string operands_text(const std::vector<ValueId>& operands) {
  std::string text;
  for (const ValueId v : operands) text += " " + id(v);
  return text;
}

std::string rhs_text(const core::Rhs& rhs) {
  return std::visit(
      Overloaded{
          [](const core::Const& c) { return "const " + constant_text(c.value); },
          [](const core::Input& i) { return "input " + std::to_string(i.index); },
          [](const core::Apply& a) {
            return std::string(operators()[a.op].name) + operands_text(a.operands) + attributes_text(a);
          },
          [](const core::Call& c) { return "call " + std::to_string(c.external) + operands_text(c.operands); },
          [](const core::Result& r) { return "result " + std::to_string(r.output) + " of " + id(r.call); },
          [](const core::When& w) {
            return std::string(w.positive ? "when " : "when not ") + id(w.condition) + " " + id(w.operand);
          },
          [](const core::Merge& m) { return "merge " + id(m.condition) + " " + id(m.on_true) + " " + id(m.on_false); },
          [](const core::Fby& f) { return "fby " + id(f.init) + " " + id(f.next); },
          [](const core::Post& p) { return "post " + id(p.operand); },
      },
      rhs);
}

std::string value_line(const Core& core, std::size_t i) {
  const Value& value = core.values[i];
  std::string line = "%" + std::to_string(i) + ": " + type_string(value.dtype, value.shape);
  if (value.clock != base_clock) line += " on " + clock_id(value.clock);
  line += " = " + rhs_text(value.rhs);
  std::string tail;
  if (!value.name.empty()) tail += " " + name_text(value.name);
  if (value.instance.valid()) tail += " #" + std::to_string(value.instance.index);
  tail += span_text(value.span);
  constexpr std::size_t column = 39;
  if (!tail.empty() && line.size() < column) line.resize(column, ' ');
  return line + tail + "\n";
}

std::string types_text(const std::vector<std::pair<DType, Shape>>& types) {
  std::string text = "(";
  for (const auto& [dtype, shape] : types) text += (text.size() > 1 ? ", " : "") + type_string(dtype, shape);
  return text + ")";
}

std::string head_text(const Core& core) {
  std::string text = "core " + name_text(core.entry) + "\n";
  for (std::size_t i = 0; i < core.externals.size(); ++i) {
    const ExternalNode& external = core.externals[i];
    text += "external " + std::to_string(i) + " " + name_text(external.symbol) + " " + types_text(external.inputs) +
            " -> " + types_text(external.outputs) + span_text(external.span) + "\n";
    if (const Iteration* it = external.iteration.get()) {
      text += "iterate " + std::to_string(it->states) + " " + std::to_string(it->sequences) + " of " +
              std::to_string(it->length) + (it->reverse ? " reverse" : "") + (it->can_fail ? " can_fail" : "") + "\n" +
              print_core(it->body) + "end\n";
    }
  }
  for (std::size_t i = 0; i < core.instances.size(); ++i) {
    const Instance& instance = core.instances[i];
    text += "instance " + std::to_string(i);
    if (instance.parent.valid()) text += " in " + std::to_string(instance.parent.index);
    if (instance.node.valid()) text += " node " + std::to_string(instance.node.index);
    if (!instance.path.empty()) text += " " + name_text(instance.path);
    text += span_text(instance.call) + "\n";
  }
  text += "clock base\n";
  for (std::size_t i = 2; i < core.clocks.size(); ++i) {
    const Clock& clock = core.clocks[i];
    text += "clock c" + std::to_string(i) + " = " + clock_id(clock.parent) + (clock.positive ? " on " : " on not ") +
            id(clock.condition) + "\n";
  }
  return text;
}

std::string ports_text(const char* keyword, const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports) {
    text += keyword + (" " + name_text(port.name)) + " = " + id(port.value) + span_text(port.span) + "\n";
  }
  return text;
}

std::string tail_text(const Core& core) {
  std::string text = ports_text("input", core.inputs) + ports_text("output", core.outputs);
  for (const CoreAssert& check : core.asserts) {
    text += "assert " + id(check.condition) + " " + quoted(check.message) + span_text(check.span) + "\n";
  }
  for (const Parameter& parameter : core.parameters) {
    text += "parameter " + name_text(parameter.path) + " = " + id(parameter.value) + "\n";
  }
  return text + ports_text("watch", core.watches);
}

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

constexpr int max_depth = 2;  // of the expressions that describe prints
std::string expression(const Core& core, ValueId v, int depth);

// Whether the text is one name, literal or call: nothing follows its outermost parenthesis.
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

// An operand inside a larger expression.
std::string atom(const Core& core, ValueId v, int depth) { return parenthesized(expression(core, v, depth + 1)); }

std::string call_text(const Core& core, std::string callee, const std::vector<ValueId>& operands, int depth) {
  callee += "(";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    callee += (i > 0 ? ", " : "") + expression(core, operands[i], depth + 1);
  }
  return callee + ")";
}

// As the program has it, but for operands that stand in the body.
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
  if (depth >= max_depth) return "…";
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

// 64-bit FNV-1a.
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

std::string print_core(const Core& core) {
  std::string text = head_text(core);
  for (std::size_t i = 0; i < core.values.size(); ++i) text += value_line(core, i);
  return text + tail_text(core);
}

}  // namespace rml
