// Which file a path leads to, so that two paths can be compared: device and inode, and where nothing is there yet those
// of the folder with the name that it would have.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace rml::rt {

struct FileIdentity {
  dev_t device;
  ino_t inode;
  std::string name;  // empty: the file is there
  bool operator==(const FileIdentity&) const = default;
};

// Nothing for what writing cannot destroy (a device, a pipe, a folder) and for paths that lead nowhere.
std::optional<FileIdentity> identity_of(const std::string& path);
std::optional<FileIdentity> identity_of(int descriptor);

}  // namespace rml::rt
