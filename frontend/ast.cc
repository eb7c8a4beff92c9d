// Interned names: each distinct text is kept once and named by a 4-byte Symbol.
//
// Symbols are given in the order of first meeting, so a program's are reproducible.
#include "frontend/ast.h"

namespace rml {

Symbol Interner::intern(const std::string& name) {
  const auto [entry, is_new] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return Symbol{entry->second};
}

}  // namespace rml
