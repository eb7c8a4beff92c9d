// What can be named in each module.
//
// A module sees its own items, those of the files it imports by path, and the prelude's
// (modules[1]); the nearer ones hide the farther. `import nn as n` gives the qualifier `n`.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "semantics/check/checked.h"

namespace rml {

struct ModuleScope {
  std::unordered_map<std::uint32_t, NodeId> nodes;  // by Symbol
  std::unordered_map<std::uint32_t, ConstId> consts;
  std::unordered_map<std::uint32_t, ModuleId> qualifiers;  // import … as m

  std::optional<NodeId> node(Symbol name) const;
  std::optional<ConstId> constant(Symbol name) const;
  std::optional<ModuleId> qualified(Symbol qualifier) const;
};

// By module. Names that stand for two things are reported, and mean the first.
std::vector<ModuleScope> module_scopes(const Program& program, Diagnostics& diagnostics);

}  // namespace rml
