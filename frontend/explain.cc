// Explanation pages by code and by word.
//
// Both tables are generated from explain/ (embed_pages.cmake): the pages of codes in the order of diagnostics.def,
// which is also that of the enumerators, and the pages of the language in the order of their file names.
#include "frontend/explain.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace rml {

extern const std::string_view explanation_pages[];
extern const std::string_view language_pages[];
extern const std::size_t language_page_count;

namespace {

LanguagePage read_page(std::string_view text) {
  const std::string_view head = text.substr(2, text.find('\n') - 2);
  const std::size_t colon = head.find(": ");
  LanguagePage page{{}, head.substr(colon + 2), text};
  std::string_view names = head.substr(0, colon);
  for (std::size_t comma = names.find(", "); comma != std::string_view::npos; comma = names.find(", ")) {
    page.names.push_back(names.substr(0, comma));
    names.remove_prefix(comma + 2);
  }
  page.names.push_back(names);
  return page;
}

}  // namespace

std::string_view explain(Code code) { return explanation_pages[static_cast<std::size_t>(code)]; }

std::optional<Code> code_from_name(std::string_view name) {
  const auto same = [](char x, char y) { return std::toupper(static_cast<unsigned char>(x)) == y; };
  for (const Code code : all_codes()) {
    if (std::ranges::equal(name, code_name(code), same)) return code;
  }
  return std::nullopt;
}

const std::vector<LanguagePage>& all_language_pages() {
  static const std::vector<LanguagePage> pages = [] {
    std::vector<LanguagePage> read;
    for (std::size_t i = 0; i < language_page_count; ++i) read.push_back(read_page(language_pages[i]));
    return read;
  }();
  return pages;
}

const LanguagePage* language_page(std::string_view name) {
  for (const LanguagePage& page : all_language_pages())
    if (std::ranges::find(page.names, name) != page.names.end()) return &page;
  return nullptr;
}

}  // namespace rml
