// Signatures, made of the ports.
#include "lowering/signature.h"

#include <algorithm>

namespace rml::c99 {

namespace {

std::vector<InterfaceParameter> parameters(const Core& core, const std::vector<rml::Port>& ports, bool input) {
  std::vector<InterfaceParameter> list;
  const std::string pointer = input ? "const " : "";
  for (std::uint32_t k = 0; k < ports.size(); ++k) {
    const Value& value = core[ports[k].value];
    const std::string name = port_identifier(ports[k].name), type = port_type(value.dtype);
    if (value.clock != base_clock)
      list.push_back({input ? InterfaceParameter::input_present : InterfaceParameter::output_present, k,
                      name + "_present", input ? "uint8_t" : "uint8_t*", "uint8_t", input, 1});
    const bool by_value = input && value.shape.empty();
    list.push_back({input ? InterfaceParameter::input : InterfaceParameter::output, k, name,
                    by_value ? type : pointer + type + "*", type, by_value, element_count(value.shape).value_or(0)});
  }
  return list;
}

}  // namespace

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

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

std::string port_identifier(std::string_view name) {
  std::string text;
  for (const char c : name) text += is_letter(c) ? c : '_';
  const bool taken = text == "n" || std::ranges::find(words, text) != words.end();
  return taken ? text + "_" : text;
}

std::vector<InterfaceParameter> input_parameters(const Core& core) { return parameters(core, core.inputs, true); }
std::vector<InterfaceParameter> output_parameters(const Core& core) { return parameters(core, core.outputs, false); }

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
