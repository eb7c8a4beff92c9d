// Writes files as a whole or not at all, and reads whole files.
//
// Writing goes to a file without a name in the same folder, or, where the file system has no such
// files, to a file with an unpredictable name, so that no other process can have put a link
// there. The file is synced and renamed, and then the folder is synced. At any moment, also after
// a crash, FILE is either the old or the new one. Every failure is a Failure that names the file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// A new file beside that of this path: its name and its writable descriptor; -1 and errno if it
// cannot be created.
struct NewFile {
  int fd = -1;
  std::string path;
};
NewFile create_beside(const std::string& path, unsigned mode);

void write_whole_file(const std::string& path, const std::vector<std::string_view>& pieces);
// `write` is called with a function that puts bytes at an offset, in any order. It may throw.
using PutBytes = std::function<void(std::uint64_t offset, std::string_view bytes)>;
void write_whole_file(const std::string& path, const std::function<void(const PutBytes&)>& write);
void put_in_order(const std::vector<std::string_view>& pieces, const PutBytes& put);

// Throws Failure if write_whole_file could not start to write.
void require_replaceable(const std::string& path);

// Throws Failure if the path exists and is not a regular file, because write_whole_file would
// replace it.
void refuse_special_file(const std::string& option, const std::string& path);

bool file_exists(const std::string& path);
std::string read_whole_file(const std::string& path);

}  // namespace rml::rt
