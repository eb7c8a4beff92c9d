// Makes a program from an object file: the system's C compiler links object + files of --link + librmlrt.a.
//
// The object calls external functions by names that only copies of the linked files define. So no other library of the
// program can provide one, and none replaces a function of the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/external_library.h"
#include "frontend/diagnostic.h"
#include "semantics/core/core.h"

namespace rml {

// The parts that the user requests besides the runtime.
struct LinkedParts {
  FoundExternals externals;
  bool mqtt = false;
  std::string mpi;  // name of the MPI (see find_mpi); empty: the program does not use MPI
};

// Links `object` into `output`, which is written directly, so pass a temporary name. Copies of linked files are written
// beside the object. Every failure is reported as E0804.
bool link_executable(const std::filesystem::path& object, const LinkedParts& parts, const std::filesystem::path& output,
                     const Core& core, Diagnostics& diagnostics);

}  // namespace rml
