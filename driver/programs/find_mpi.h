// Which MPI a program of `rmlc build --mpi` is linked with: one of those that rmlc has a part for, and that are
// installed here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rml {

struct MpiParts {
  std::filesystem::path archive;      // rmlc's part
  std::string library;                // as the linker finds it
  std::vector<std::string> problems;  // why there is none, and what to install; else empty
};

// wanted: openmpi, mpich, or any for the first of them that is there. compiler: the system's, which links.
MpiParts find_mpi(const std::string& wanted, const std::string& compiler);

}  // namespace rml
