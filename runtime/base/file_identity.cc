// For a file that does not exist, symbolic links are followed by hand, to the folder in which it
// would be created.
#include "runtime/base/file_identity.h"

#include <sys/stat.h>

#include <filesystem>

namespace rml::rt {
namespace {

std::optional<FileIdentity> of_regular(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino, {}};
}

}  // namespace

std::optional<FileIdentity> identity_of(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 ? of_regular(status) : std::nullopt;
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return of_regular(status);
  // A link may lead to a file that does not exist; opening the link would create that file.
  constexpr int longest_chain = 40;
  std::filesystem::path end = path;
  std::error_code error;
  for (int k = 0; k < longest_chain && std::filesystem::is_symlink(end, error); ++k)
    end = end.parent_path() / std::filesystem::read_symlink(end, error);
  const std::string folder = end.has_parent_path() ? end.parent_path().string() : ".";
  if (!end.has_filename() || ::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino, end.filename().string()};
}

}  // namespace rml::rt
