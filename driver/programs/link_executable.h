// From an object file to a program: object + libraries + librmlrt.a, linked by the system's
// C compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// What the user asks for beside the runtime.
struct LinkedParts {
  std::vector<std::string> libraries;
  bool mqtt = false;
  std::string mpi;  // as find_mpi is asked; empty: none
};

// Links `object` into `output` (written directly: hand in a temporary name). Missing
// external functions are E0805 at their nodes, anything else that goes wrong E0804.
bool link_executable(const std::filesystem::path& object, const LinkedParts& parts, const std::filesystem::path& output,
                     const Core& core, Diagnostics& diagnostics);

}  // namespace rml
