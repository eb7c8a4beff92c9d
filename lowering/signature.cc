// Makes the parameters of the C interface from the ports.
#include "lowering/signature.h"

#include <algorithm>
#include <set>

#include "lowering/reserved.h"

namespace rml::c99 {

namespace {

std::string identifier(std::string_view name) {
  std::string text;
  for (const char c : name) text += is_letter(c) ? c : '_';
  return is_of_implementation(text) ? "port" + text : text;
}

struct Ports {
  std::vector<Port> inputs, outputs;
};

// Keeps valid names, even if other names must change: `n` becomes `n__` if there is an `n_`.
class PortNames {
 public:
  explicit PortNames(const Core& core) : core_(core) {}

  Ports all() {
    for (const auto* ports : {&core_.inputs, &core_.outputs})
      for (const rml::Port& port : *ports)
        if (!is_taken(port.name)) taken_.insert(port.name);
    std::set<std::string> settled;
    return {named(core_.inputs, settled), named(core_.outputs, settled)};
  }

 private:
  bool is_taken(const std::string& text) const {
    return text == "n" || std::ranges::find(own_words, text) != own_words.end() || is_reserved(text) ||
           text != identifier(text) || taken_.contains(text) || is_of_interface(core_, text);
  }
  std::string unique(std::string text) {
    while (is_taken(text)) text += '_';
    return *taken_.insert(text).first;
  }
  std::vector<Port> named(const std::vector<rml::Port>& ports, std::set<std::string>& settled) {
    std::vector<Port> list;
    for (const rml::Port& port : ports) {
      const bool stays = taken_.contains(port.name) && settled.insert(port.name).second;
      const std::string name = stays ? port.name : unique(identifier(port.name));
      list.push_back({name, core_[port.value].clock != base_clock ? unique(name + "_present") : ""});
    }
    return list;
  }

  const Core& core_;
  std::set<std::string> taken_;
};

std::vector<InterfaceParameter> parameters(const Core& core, const std::vector<rml::Port>& ports,
                                           const std::vector<Port>& names, bool input) {
  std::vector<InterfaceParameter> list;
  const std::string pointer = input ? "const " : "";
  for (std::uint32_t k = 0; k < ports.size(); ++k) {
    const Value& value = core[ports[k].value];
    const std::string type = port_type(value.dtype);
    if (value.clock != base_clock)
      list.push_back({input ? InterfaceParameter::input_present : InterfaceParameter::output_present, k,
                      names[k].present, input ? "uint8_t" : "uint8_t*", "uint8_t", input, 1});
    const bool by_value = input && value.shape.empty();
    list.push_back({input ? InterfaceParameter::input : InterfaceParameter::output, k, names[k].value,
                    by_value ? type : pointer + type + "*", type, by_value, element_count(value.shape).value_or(0)});
  }
  return list;
}

}  // namespace

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_of_word(char c) { return is_letter(c) || c == '_'; }

std::string word_of(std::string_view path) {
  std::string text;
  for (const char c : path) text += is_of_word(c) ? c : '_';
  return text;
}

bool is_of_interface(const Core& core, std::string_view name) {
  if (!name.starts_with(core.entry)) return false;
  const std::string_view what = name.substr(core.entry.size());
  const auto is_there = [&](const auto& list) { return std::ranges::find(list, what) != list.end(); };
  const bool accesses = what.starts_with("_get_") || what.starts_with("_set_");
  const auto of_parameter = [&](const Parameter& p) {
    return !p.path.empty() && what.substr(std::string_view("_get_").size()).starts_with(word_of(p.path));
  };
  return is_there(interface_names) || is_there(interface_macros) ||
         std::ranges::any_of(core.outputs, [&](const rml::Port& port) { return what == "_get_" + port.name; }) ||
         (accesses && std::ranges::any_of(core.parameters, of_parameter));
}

std::string port_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8:
      return "uint8_t";
    case DType::i8:
      return "int8_t";
    case DType::i16:
      return "int16_t";
    case DType::i32:
      return "int32_t";
    case DType::i64:
      return "int64_t";
    case DType::u32:
      return "uint32_t";
    case DType::u64:
      return "uint64_t";
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return "uint16_t";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
  }
  return "void";
}

std::vector<Port> input_ports(const Core& core) { return PortNames(core).all().inputs; }
std::vector<Port> output_ports(const Core& core) { return PortNames(core).all().outputs; }

std::string named_after(const std::string& node, const std::string& text) {
  constexpr std::string_view before = "NAME_";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool here = text.compare(at, before.size(), before) == 0 && (at == 0 || !is_of_word(text[at - 1]));
    result += here ? node + "_" : std::string(1, text[at]);
    at += here ? before.size() : 1;
  }
  return result;
}

std::vector<InterfaceParameter> input_parameters(const Core& core) {
  return parameters(core, core.inputs, input_ports(core), true);
}
std::vector<InterfaceParameter> output_parameters(const Core& core) {
  return parameters(core, core.outputs, output_ports(core), false);
}

std::string parameter_list(const std::vector<InterfaceParameter>& list, bool rows) {
  std::string text;
  for (const InterfaceParameter& p : list) {
    const std::string type = !rows || !p.by_value ? p.type : "const " + p.element + "*";
    text += ", " + type + " " + p.name;
  }
  return text;
}

std::string row_of(const InterfaceParameter& p, const std::string& i) {
  if (p.by_value) return p.name + "[" + i + "]";
  return p.name + " + " + (p.elements == 1 ? "" : std::to_string(p.elements) + " * ") + i;
}

std::string ports_text(const Core& core) {
  std::string text;
  const auto describe = [&](const std::vector<rml::Port>& ports, const char* direction) {
    for (const rml::Port& port : ports)
      text += " *   " + std::string(direction) + " " + port.name + ": " +
              type_string(core[port.value].dtype, core[port.value].shape) + ", " +
              clock_string(core, core[port.value].clock) + "\n";
  };
  describe(core.inputs, "in ");
  describe(core.outputs, "out");
  return text;
}

}  // namespace rml::c99
