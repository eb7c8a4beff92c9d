// See find_mpi.h. The compiler is asked for the library, as it will link it.
#include "driver/programs/find_mpi.h"

#include <optional>

#include "driver/installation.h"
#include "driver/subprocess.h"

namespace rml {
namespace {

struct Known {
  const char *key, *name;
  const char* library;  // of the version whose ABI our part has
  const char* package;  // of Debian: the library, and mpirun
};
constexpr Known all_known[] = {{"openmpi", "Open MPI", "libmpi.so.40", "openmpi-bin"},
                               {"mpich", "MPICH", "libmpich.so.12", "mpich"}};

bool is_installed(const Known& mpi, const std::string& compiler) {
  const auto done = run_to_end({compiler, std::string("-print-file-name=") + mpi.library});
  // What it does not find it calls as it was called.
  return done && done->status == 0 && done->output.find('/') != std::string::npos;
}

MpiParts parts_of(const Known& mpi, const std::string& compiler) {
  MpiParts parts{mpi_archive(mpi.key), mpi.library, {}};
  const std::string name = mpi.name;
  if (!std::filesystem::exists(parts.archive))
    parts.problems.push_back("this rmlc was built without " + name + ": there is no " + parts.archive.string());
  else if (!is_installed(mpi, compiler))
    parts.problems.push_back(name + " is not installed: " + compiler + " finds no " + mpi.library +
                             "; install it (Debian: apt install " + mpi.package + ")");
  return parts;
}

}  // namespace

MpiParts find_mpi(const std::string& wanted, const std::string& compiler) {
  MpiParts none;
  for (const Known& mpi : all_known) {
    if (wanted != "any" && wanted != mpi.key) continue;
    const MpiParts parts = parts_of(mpi, compiler);
    if (parts.problems.empty()) return parts;
    none.problems.insert(none.problems.end(), parts.problems.begin(), parts.problems.end());
  }
  return none;
}

}  // namespace rml
