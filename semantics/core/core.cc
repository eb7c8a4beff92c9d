// Small functions of cores.
#include "semantics/core/core.h"

namespace rml {

std::vector<ValueId> moving_parameters(const Core& core) {
  std::vector<ValueId> moving;
  for (const Parameter& p : core.parameters) {
    if (p.path.empty() || !p.value.valid()) continue;
    const auto* delay = std::get_if<core::Fby>(&core[p.value].rhs);
    if (delay != nullptr && delay->next != p.value) moving.push_back(p.value);
  }
  return moving;
}

std::uint64_t path_key(const std::string& path) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace rml
