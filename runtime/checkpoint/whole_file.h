// Files that are written whole or not at all, and read whole.
//
// Writing goes to a file without a name in the same folder or, where there is no such thing, of another name, which is
// synced, renamed, and the folder synced: at any moment, also after a crash, FILE is the old or the new one. Every
// failure is a Failure that names the file. The other name is unpredictable, so no other process can have put a link
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

// A file that was not there before, beside that of this path: its name and its descriptor, which can be written; -1,
// and errno, where there can be none.
struct NewFile {
  int fd = -1;
  std::string path;
};
NewFile create_beside(const std::string& path, unsigned mode);

void write_whole_file(const std::string& path, const std::vector<std::string_view>& pieces);
// `write` puts bytes to where in the file they are to be, in any order; it may throw.
using PutBytes = std::function<void(std::uint64_t offset, std::string_view bytes)>;
void write_whole_file(const std::string& path, const std::function<void(const PutBytes&)>& write);
void put_in_order(const std::vector<std::string_view>& pieces, const PutBytes& put);

// Throws Failure if write_whole_file could not begin.
void require_replaceable(const std::string& path);

// Throws Failure if the path is there and no regular file: it would be replaced.
void refuse_special_file(const std::string& option, const std::string& path);

bool file_exists(const std::string& path);
std::string read_whole_file(const std::string& path);

}  // namespace rml::rt
