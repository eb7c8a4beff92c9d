// Asks the compiler for the library that it would link (find_mpi.h).
#include "driver/programs/find_mpi.h"

#include <optional>

#include "driver/base/installation.h"
#include "runtime/base/subprocess.h"

namespace rml {
namespace {

struct Known {
  const char *key, *name;
  const char* library;  // file name of the library, with the version whose ABI rmlc's archive uses
  const char* package;  // packages of Debian with the library and with mpirun
};
constexpr Known all_known[] = {{"openmpi", "Open MPI", "libmpi.so.40", "openmpi-bin"},
                               {"mpich", "MPICH", "libmpich.so.12", "mpich"}};

bool is_installed(const Known& mpi, const std::string& compiler) {
  const auto done = run_to_end({compiler, std::string("-print-file-name=") + mpi.library});
  // The compiler prints a library that it does not find as it was asked for, without a path.
  return done && done->status == 0 && done->output.find('/') != std::string::npos;
}

MpiParts parts_of(const Known& mpi, const std::string& compiler) {
  MpiParts parts{mpi_archive(mpi.key), mpi.library, {}};
  const std::string name = mpi.name;
  if (!std::filesystem::exists(parts.archive))
    parts.problems.push_back("this rmlc was built without " + name + ": " + parts.archive.string() + " does not exist");
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
