// The binary is asked of the kernel, so that a link to rmlc in another folder works too.
#include "driver/installation.h"

namespace rml {

std::filesystem::path own_binary() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

namespace {

std::filesystem::path library_folder() { return own_binary().parent_path().parent_path() / "lib" / "rmlc"; }

}  // namespace

Resources own_resources() { return {library_folder() / "stdlib"}; }
std::filesystem::path runtime_archive() { return library_folder() / "librmlrt.a"; }
std::filesystem::path runner() { return library_folder() / "runner"; }
std::filesystem::path mqtt_archive() { return library_folder() / "librmlmqtt.a"; }
std::filesystem::path lapack_archive() { return library_folder() / "librmllapack.a"; }

}  // namespace rml
