// Writes a core as text.
//
// The text has one line per item, in a fixed order: entry, externals, instances, clocks, values,
// inputs, outputs, asserts, parameters, watches. The line of a value is
//     %5: f32[4] on c2 = when not %3 %4       lstm.h #1 @2:10-17
// with id, type, clock unless it is base, and right-hand side; then the user's name, the instance
// and the span if they are known. read_core.cc reads exactly this format.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "semantics/core/core_text.h"
#include "semantics/values/overloaded.h"
#include "semantics/values/read_element.h"

namespace rml {

std::string id_text(ValueId v) { return "%" + (v.valid() ? std::to_string(v.index) : std::string("?")); }

std::string id_text(ClockId c) {
  if (c == base_clock) return "base";
  if (c == never_clock) return "never";
  return "c" + (c.valid() ? std::to_string(c.index) : std::string("?"));
}

std::string quoted_text(const std::string& text) {
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

namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool plain(const std::string& name) {
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}
}  // namespace

std::string name_text(const std::string& name) { return plain(name) ? name : quoted_text(name); }

std::string span_text(Span span) {
  if (span == Span{}) return "";
  return " @" + std::to_string(span.file) + ":" + std::to_string(span.begin) + "-" + std::to_string(span.end);
}

// Digits if reading them gives the same bits, else bytes. A NaN with a payload needs bytes.
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

namespace {

std::string number_text(double value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
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
      return quoted_text(attribute.text);
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
  for (const ValueId v : operands) text += " " + id_text(v);
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
          [](const core::Result& r) { return "result " + std::to_string(r.output) + " of " + id_text(r.call); },
          [](const core::When& w) {
            return std::string(w.positive ? "when " : "when not ") + id_text(w.condition) + " " + id_text(w.operand);
          },
          [](const core::Merge& m) {
            return "merge " + id_text(m.condition) + " " + id_text(m.on_true) + " " + id_text(m.on_false);
          },
          [](const core::Fby& f) { return "fby " + id_text(f.init) + " " + id_text(f.next); },
          [](const core::Post& p) { return "post " + id_text(p.operand); },
      },
      rhs);
}

std::string value_line(const Core& core, std::size_t i) {
  const Value& value = core.values[i];
  std::string line = "%" + std::to_string(i) + ": " + type_string(value.dtype, value.shape);
  if (value.clock != base_clock) line += " on " + id_text(value.clock);
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

// How much to print: the text of `rmlc show core`, or the complete text.
enum class Extent : std::uint8_t { shown, whole };
std::string text_of(const Core& core, Extent extent);

std::string instance_line(const Core& core, std::size_t i, Extent extent) {
  const Instance& instance = core.instances[i];
  const bool whole = extent == Extent::whole;
  std::string text = "instance " + std::to_string(i);
  if (instance.parent.valid()) text += " in " + std::to_string(instance.parent.index);
  if (whole && instance.derived) text += " derived";
  if (whole && instance.steps != StepsNode::none) text += " steps " + std::string(name(instance.steps));
  if (instance.node.valid()) text += " node " + std::to_string(instance.node.index);
  const std::string& path = instance.path;
  const bool is_keyword = path == "in" || path == "derived" || path == "steps" || path == "node";
  if (!path.empty()) text += " " + (whole && is_keyword ? quoted_text(path) : name_text(path));
  return text + span_text(instance.call) + "\n";
}

std::string head_text(const Core& core, Extent extent) {
  std::string text = "core " + name_text(core.entry) + "\n";
  for (std::size_t i = 0; i < core.externals.size(); ++i) {
    const ExternalNode& external = core.externals[i];
    text += "external " + std::to_string(i) + " " + name_text(external.symbol) + " " + types_text(external.inputs) +
            " -> " + types_text(external.outputs) + span_text(external.span);
    if (external.calling != Calling::plain) text += external.calling == Calling::asks ? " asks" : " joins";
    text += "\n";
    if (const Iteration* it = external.iteration.get()) {
      text += "iterate " + std::to_string(it->states) + " " + std::to_string(it->sequences) + " of " +
              std::to_string(it->length) + (it->reverse ? " reverse" : "") + (it->can_fail ? " can_fail" : "") + "\n" +
              text_of(it->body, extent) + "end\n";
    }
  }
  for (std::size_t i = 0; i < core.instances.size(); ++i) text += instance_line(core, i, extent);
  text += "clock base\n";
  for (std::size_t i = 2; i < core.clocks.size(); ++i) {
    const Clock& clock = core.clocks[i];
    text += "clock c" + std::to_string(i) + " = " + id_text(clock.parent) + (clock.positive ? " on " : " on not ") +
            id_text(clock.condition) + "\n";
  }
  return text;
}

std::string ports_text(const char* keyword, const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports) {
    text += keyword + (" " + name_text(port.name)) + " = " + id_text(port.value) + span_text(port.span) + "\n";
  }
  return text;
}

std::string dealt_line(const DealtRows& dealt) {
  std::string text = "dealt " + std::to_string(dealt.end);
  if (dealt.count) text += " by " + std::to_string(*dealt.count);
  return text + span_text(dealt.span) + "\n";
}

std::string tail_text(const Core& core, Extent extent) {
  std::string text = ports_text("input", core.inputs);
  if (core.dealt) text += extent == Extent::whole ? dealt_line(*core.dealt) : "dealt\n";
  if (core.deal) text += "deal " + std::to_string(core.deal->end) + " by " + std::to_string(core.deal->per_step) + "\n";
  text += ports_text("output", core.outputs);
  if (extent == Extent::whole && core.watched > 0) text += "watched " + std::to_string(core.watched) + "\n";
  for (const CoreAssert& check : core.asserts) {
    text += "assert " + id_text(check.condition) + " " + quoted_text(check.message) + span_text(check.span) + "\n";
  }
  for (const Parameter& parameter : core.parameters) {
    text += "parameter " + name_text(parameter.path) + " = " + id_text(parameter.value) + "\n";
  }
  return text + ports_text("watch", core.watches);
}

std::string text_of(const Core& core, Extent extent) {
  std::string text = head_text(core, extent);
  for (std::size_t i = 0; i < core.values.size(); ++i) text += value_line(core, i);
  return text + tail_text(core, extent);
}

}  // namespace

std::string equation_text(const Core& core, ValueId v) {
  const Value& value = core[v];
  const auto* constant = std::get_if<core::Const>(&value.rhs);
  constexpr std::int64_t few = 4;
  if (constant != nullptr && constant->value.elements() > few) return "const " + type_string(value.dtype, value.shape);
  return rhs_text(value.rhs);
}

std::string print_core(const Core& core) { return text_of(core, Extent::shown); }
std::string core_text(const Core& core) { return form_line("core") + text_of(core, Extent::whole); }
std::string inner_core_text(const Core& core) { return text_of(core, Extent::whole) + "end\n"; }

}  // namespace rml
