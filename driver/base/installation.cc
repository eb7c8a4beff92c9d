// Asks the kernel for the path of the binary, so that a link to rmlc in another folder works too. If /proc is not
// mounted, as after a plain chroot, the path by which rmlc was called is used.
#include "driver/base/installation.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "compiler/models/check_stream.h"

namespace rml {

std::filesystem::path own_binary() {
  std::error_code error;
  std::filesystem::path told = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return told;
  const auto* const called = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return called == nullptr ? told : std::filesystem::canonical(called, error);
}

namespace {

std::filesystem::path& prefix_of_host() {
  static std::filesystem::path prefix;
  return prefix;
}

std::filesystem::path library_folder() { return installation() / "lib" / "rmlc"; }

// The folders in RMLC_PATH, separated by colons; empty ones are left out.
std::vector<std::filesystem::path> folders_of_environment() {
  std::vector<std::filesystem::path> folders;
  const char* const value = std::getenv("RMLC_PATH");
  std::istringstream list(value == nullptr ? "" : value);
  for (std::string folder; std::getline(list, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

}  // namespace

void set_installation(const std::filesystem::path& prefix) { prefix_of_host() = prefix; }
std::filesystem::path installation() {
  return prefix_of_host().empty() ? own_binary().parent_path().parent_path() : prefix_of_host();
}
Resources own_resources() { return {library_folder() / "stdlib", folders_of_environment(), what_mixes_steps}; }
std::filesystem::path runtime_archive() { return library_folder() / "librmlrt.a"; }
std::filesystem::path runner() { return library_folder() / "runner"; }
std::filesystem::path mqtt_archive() { return library_folder() / "librmlmqtt.a"; }
std::filesystem::path mpi_archive(const std::string& mpi) { return library_folder() / ("librmlmpi-" + mpi + ".a"); }
std::filesystem::path lapack_archive() { return library_folder() / "librmllapack.a"; }

}  // namespace rml
