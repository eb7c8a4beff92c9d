// Files that appear whole or not at all: written under a temporary name in the same folder,
// then renamed. Devices and pipes (/dev/stdout) are written directly.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/programs/attach_program.h"
#include "frontend/diagnostic.h"

namespace rml {

// A new folder beside `path`, for what other programs write before it is moved onto it; nobody else can look into it.
// Removed with all that is in it.
class FolderBeside {
 public:
  explicit FolderBeside(const std::filesystem::path& path);
  FolderBeside(const FolderBeside&) = delete;
  FolderBeside& operator=(const FolderBeside&) = delete;
  ~FolderBeside();
  // Empty where there can be none, for this reason.
  const std::filesystem::path& path() const { return path_; }
  const std::string& error() const { return error_; }

 private:
  std::filesystem::path path_;
  std::string error_;
};
// Whether the path leads to none of the files that were read; reports E0804 if it does.
bool overwrites_none(const std::filesystem::path& path, const std::vector<std::string>& read, Diagnostics& diagnostics);
// Whether files that belong together can all be there at the end; reports E0804 where a directory or a device is in the
// place of one. write_together looks as well: this is for telling it before the long work.
bool all_replaceable(const std::vector<std::filesystem::path>& paths, Diagnostics& diagnostics);
// Reports E0804 and returns false when it cannot be written.
bool write_file(const std::filesystem::path& path, std::string_view bytes, Diagnostics& diagnostics);
// The same for a program made from another: a copy of the file at `base` with bytes replaced and more behind them.
bool write_program(const std::filesystem::path& path, const std::filesystem::path& base, const AttachedProgram& program,
                   Diagnostics& diagnostics);
struct OutputFile {
  std::filesystem::path path;
  std::vector<std::string_view> pieces;
};
// Files that belong together: each takes its place when all are written, so that a full disk leaves the old ones, which
// belong together too. Reports E0804 of the one that cannot be written and returns false.
bool write_together(const std::vector<OutputFile>& files, Diagnostics& diagnostics);
// Moves a finished temporary file to its place; on failure removes it and reports E0804.
bool move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path,
                     Diagnostics& diagnostics);
void report_unwritable(const std::filesystem::path& path, const std::string& reason, Diagnostics& diagnostics);

}  // namespace rml
