// Interns names: each distinct text is stored once and named by a 4-byte Symbol.
//
// Symbols are numbered in the order in which the names first occur, so a program always gets the
// same symbols.
#include "frontend/ast.h"

namespace rml {

Symbol Interner::intern(const std::string& name) {
  const auto [entry, is_new] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return Symbol{entry->second};
}

}  // namespace rml
