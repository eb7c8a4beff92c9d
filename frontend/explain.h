// The pages that `rmlc explain` shows and that belong to no library: of a diagnostic's code (its meaning, a wrong
// example and its correction), and of a word or sign of the language. Pages are Markdown, explain/CODE.md and
// explain/language/NAME.md, embedded in the binary.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/diagnostic.h"

namespace rml {

std::string_view explain(Code code);
// Returns the code with that name, in upper or lower case ("E0301", "e0301").
std::optional<Code> code_from_name(std::string_view name);

// A page of the language. Its first line, `# if, then, else: choose between two values`, has its names and its title.
struct LanguagePage {
  std::vector<std::string_view> names;
  std::string_view title, text;
};
const std::vector<LanguagePage>& all_language_pages();
// Finds the page with this name; null if there is none.
const LanguagePage* language_page(std::string_view name);

}  // namespace rml
