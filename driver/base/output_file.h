// Writes files that appear complete or not at all: each is written under a temporary name in the same folder, then
// renamed. Devices and pipes (/dev/stdout) are written directly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/diagnostic.h"

namespace rml {

// A new folder beside `path`, in which other programs can write before the result is moved to `path`. Other users have
// no access to it. The destructor removes it with its contents.
class FolderBeside {
 public:
  explicit FolderBeside(const std::filesystem::path& path);
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;
  ~FolderBeside();
  // The path of the folder. Empty if it cannot be made, for the reason in `error`.
  const std::filesystem::path& path() const { return path_; }
  const std::string& error() const { return error_; }

 private:
  std::filesystem::path path_;
  std::string error_;
};
// True if the path leads to none of the files that were read; otherwise reports E0804.
bool overwrites_none(const std::filesystem::path& path, const std::vector<std::string>& read, Diagnostics& diagnostics);
// True if files that belong together can all be replaced. Reports E0804 if a directory or a device is in the place of
// one. write_together checks this as well; this function reports it before long work begins.
bool all_replaceable(const std::vector<std::filesystem::path>& paths, Diagnostics& diagnostics);
// Reports E0804 and returns false if the file cannot be written.
bool write_file(const std::filesystem::path& path, std::string_view bytes, Diagnostics& diagnostics);
// A program: the bytes of another one with some replaced, and a tail after them.
struct AttachedProgram {
  std::vector<std::pair<std::uint64_t, std::string>> replaced;  // changed bytes of the base: offset and new bytes
  std::string tail;
};
// Writes a program made from another one: a copy of the file at `base` with some bytes replaced and others appended.
// Reports E0804 and returns false if it cannot be written.
bool write_program(const std::filesystem::path& path, const std::filesystem::path& base, const AttachedProgram& program,
                   Diagnostics& diagnostics);
struct OutputFile {
  std::filesystem::path path;
  std::vector<std::string_view> pieces;
};
// Writes files that belong together. They are moved to their places after all have been written, so a full disk leaves
// the old ones, which belong together as well. Reports E0804 for a file that cannot be written, and returns false.
bool write_together(const std::vector<OutputFile>& files, Diagnostics& diagnostics);
// Moves a finished temporary file to its place. On failure, removes it and reports E0804.
bool move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path,
                     Diagnostics& diagnostics);
void report_unwritable(const std::filesystem::path& path, const std::string& reason, Diagnostics& diagnostics);

}  // namespace rml
