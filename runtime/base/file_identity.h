// Identifies the file at the end of a path, so that two paths can be compared: by device and
// inode, or, if the file does not exist, by those of its folder and its name.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace rml::rt {

struct FileIdentity {
  dev_t device;
  ino_t inode;
  std::string name;  // name of a file that does not exist yet; empty: the file exists
  bool operator==(const FileIdentity&) const = default;
};

// None if writing cannot destroy anything there (a device, a pipe, a folder), and for paths
// without an existing folder.
std::optional<FileIdentity> identity_of(const std::string& path);
std::optional<FileIdentity> identity_of(int descriptor);

}  // namespace rml::rt
