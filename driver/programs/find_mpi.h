// Chooses the MPI for `rmlc build --mpi`: one that rmlc has a part for and that is installed here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rml {

struct MpiParts {
  std::filesystem::path archive;      // rmlc's archive for this MPI
  std::string library;                // name of the library for the linker
  std::vector<std::string> problems;  // if no MPI was found: the reasons, and the packages to install
};

// wanted: openmpi, mpich, or any for the first that is available. compiler: the system's C compiler, which links.
MpiParts find_mpi(const std::string& wanted, const std::string& compiler);

}  // namespace rml
