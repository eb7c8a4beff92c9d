// Files that are written whole or not at all, and read whole.
//
// Writing goes to FILE.part in the same folder, which is synced, renamed, and the folder synced: at
// any moment, also after a crash, FILE is the old or the new one. Every failure is a Failure that
// names the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml::rt {

void write_whole_file(const std::string& path, const std::vector<std::string_view>& pieces);

// Throws Failure if the path is there and no regular file: it would be replaced.
void refuse_special_file(const std::string& option, const std::string& path);

bool file_exists(const std::string& path);
std::string read_whole_file(const std::string& path);

}  // namespace rml::rt
