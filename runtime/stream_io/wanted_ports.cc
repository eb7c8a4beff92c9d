// Code points are counted as bytes that do not continue a sequence, so text that is not UTF-8
// also gets a column.
#include "runtime/stream_io/wanted_ports.h"

#include <algorithm>

namespace rml::rt {

std::unordered_map<std::string, Element> elements_by_name(const Row& row, const std::vector<std::uint32_t>& wanted) {
  std::unordered_map<std::string, Element> names;
  for (const std::uint32_t i : wanted) {
    for (std::uint64_t k = 0; k < row.port(i).elements; ++k) names[element_name(row.port(i), k)] = {i, k};
  }
  return names;
}

std::string expected_columns(const rml_port& port) {
  std::string text = "'" + std::string(port.name) + "' (" + type_text(port);
  if (port.rank > 0 && port.elements > 1) {
    text += ", columns " + element_name(port, 0) + " to " + element_name(port, port.elements - 1);
  } else if (port.rank > 0 && port.elements == 1) {
    text += ", column " + element_name(port, 0);
  }
  return text + ")";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace rml::rt
