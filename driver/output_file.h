// Files that appear whole or not at all: written under a temporary name in the same folder,
// then renamed. Devices and pipes (/dev/stdout) are written directly.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/diagnostic.h"

namespace rml {

// A name beside `path` that a rename can move onto it.
std::filesystem::path temporary_beside(const std::filesystem::path& path);
// Reports E0804 and returns false when it cannot be written. A program can be executed; any other file keeps the
// permissions of the one it replaces.
enum class Contents { data, program };
bool write_file(const std::filesystem::path& path, std::string_view bytes, Diagnostics& diagnostics,
                Contents contents = Contents::data);
// Moves a finished temporary file to its place; on failure removes it and reports E0804.
bool move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path,
                     Diagnostics& diagnostics);
void report_unwritable(const std::filesystem::path& path, const std::string& reason, Diagnostics& diagnostics);

// The whole file, or nothing and errno's text in `error`.
std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error);

}  // namespace rml
