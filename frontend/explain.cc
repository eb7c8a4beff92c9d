// Looks up pages by code and codes by name.
//
// The table of pages is generated from explain/*.md (embed_pages.cmake) in the order of
// diagnostics.def, which is also the order of the enumerators.
#include "frontend/explain.h"

#include <algorithm>
#include <cctype>

namespace rml {

extern const std::string_view explanation_pages[];

std::string_view explain(Code code) { return explanation_pages[static_cast<std::size_t>(code)]; }

std::optional<Code> code_from_name(std::string_view name) {
  const auto same = [](char x, char y) { return std::toupper(static_cast<unsigned char>(x)) == y; };
  for (const Code code : all_codes()) {
    if (std::ranges::equal(name, code_name(code), same)) return code;
  }
  return std::nullopt;
}

}  // namespace rml
