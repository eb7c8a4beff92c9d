// The names in scope of each module.
//
// A module sees its own items, those of the files that it imports by path, and those of the
// prelude (modules[1]). Nearer items hide farther ones. `import nn as n` defines the qualifier
// `n`.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "semantics/check/checked.h"

namespace rml {

struct ModuleScope {
  std::unordered_map<std::uint32_t, NodeId> nodes;  // nodes of the module by name
  std::unordered_map<std::uint32_t, ConstId> consts;
  std::unordered_map<std::uint32_t, ModuleId> qualifiers;  // modules by their qualifiers: m in `import … as m`

  std::optional<NodeId> node(Symbol name) const;
  std::optional<ConstId> constant(Symbol name) const;
  std::optional<ModuleId> qualified(Symbol qualifier) const;
};

// By module. A name with two meanings is reported, and gets the first.
std::vector<ModuleScope> module_scopes(const Program& program, Diagnostics& diagnostics);

}  // namespace rml
