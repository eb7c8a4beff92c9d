// Small functions of cores.
#include "semantics/core/core.h"

#include <algorithm>
#include <iterator>

namespace rml {

namespace {
constexpr std::string_view steps_nodes[] = {"none",     "all_sum", "all_mean", "gathered",  "ends",
                                            "gradient", "rank",    "ranks",    "broadcast", "other"};
}  // namespace

std::string_view name(StepsNode node) { return steps_nodes[static_cast<std::size_t>(node)]; }

StepsNode steps_node_named(std::string_view name) {
  const auto* const found = std::ranges::find(steps_nodes, name);
  return found == std::end(steps_nodes) ? StepsNode::none : static_cast<StepsNode>(found - std::begin(steps_nodes));
}

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
