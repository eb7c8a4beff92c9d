// From an object file to a program: object + files of --link + librmlrt.a, linked by the system's
// C compiler.
//
// The object calls external functions by names that only copies of the linked files have, so no other library of the
// program can provide one, and none takes the place of a function of the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/external_library.h"
#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// What the user asks for beside the runtime.
struct LinkedParts {
  FoundExternals externals;
  bool mqtt = false;
  std::string mpi;  // as find_mpi is asked; empty: none
};

// Links `object` into `output` (written directly: hand in a temporary name). Copies of linked files are written beside
// the object. Anything that goes wrong is E0804.
bool link_executable(const std::filesystem::path& object, const LinkedParts& parts, const std::filesystem::path& output,
                     const Core& core, Diagnostics& diagnostics);

}  // namespace rml
