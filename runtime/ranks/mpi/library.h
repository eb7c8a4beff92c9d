// The MPI transport, which exists only in programs that are linked with it.
//
// Open MPI and MPICH are shared libraries, but programs of rmlc build are static and cannot load
// libraries. The handles of the two also differ, so code compiled for one cannot be linked with
// the other. Therefore the MPI transport is an archive for each of them, librmlmpi-NAME.a, built
// from the same source. Programs of rmlc build --mpi are linked with one of these archives.
#pragma once

#include <memory>

#include "runtime/ranks/transport.h"

namespace rml::rt {

struct MpiLibrary {
  const char* name;
  // Call it once in a process. Waits for the other ranks to start.
  std::unique_ptr<Transport> (*start)();
};

}  // namespace rml::rt

// Weak: null in programs without the archive. To link the archive, the linker is made to look for
// this name.
extern "C" [[gnu::weak]] const rml::rt::MpiLibrary rml_mpi_library;
