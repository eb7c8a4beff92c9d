// Interned names: each distinct text once, named by a 4-byte Symbol.
#include "frontend/ast.h"

namespace rml {

Symbol Interner::intern(const std::string& name) {
  const auto [entry, is_new] = index_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return Symbol{entry->second};
}

}  // namespace rml
