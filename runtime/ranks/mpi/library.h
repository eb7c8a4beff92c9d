// What a program that can be run by mpirun has, and another has not.
//
// Open MPI and MPICH exist as shared libraries, while programs of rmlc build are static, need nothing and can load
// nothing; and handles of the two differ, so that what is compiled for one cannot be linked with the other. So the part
// that speaks MPI is an archive for each, librmlmpi-NAME.a, made of the same source; programs of rmlc build --mpi are
// linked with one of them.
#pragma once

#include <memory>

#include "runtime/ranks/transport.h"

namespace rml::rt {

struct MpiLibrary {
  const char* name;
  // Once in a process. Waits for the other ranks to start.
  std::unique_ptr<Transport> (*start)();
};

}  // namespace rml::rt

// Weak: null in programs without the archive. With it, the linker is told to look for this name.
extern "C" [[gnu::weak]] const rml::rt::MpiLibrary rml_mpi_library;
