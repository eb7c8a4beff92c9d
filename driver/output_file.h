// Files that appear whole or not at all: written under a temporary name in the same folder,
// then renamed. Devices and pipes (/dev/stdout) are written directly.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "driver/attach_program.h"
#include "frontend/diagnostic.h"

namespace rml {

// A name beside `path` that a rename can move onto it.
std::filesystem::path temporary_beside(const std::filesystem::path& path);
// Reports E0804 and returns false when it cannot be written.
bool write_file(const std::filesystem::path& path, std::string_view bytes, Diagnostics& diagnostics);
// The same for a program made from another: a copy of the file at `base` with bytes replaced and more behind them.
bool write_program(const std::filesystem::path& path, const std::filesystem::path& base, const AttachedProgram& program,
                   Diagnostics& diagnostics);
// Moves a finished temporary file to its place; on failure removes it and reports E0804.
bool move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& path,
                     Diagnostics& diagnostics);
void report_unwritable(const std::filesystem::path& path, const std::string& reason, Diagnostics& diagnostics);

// A file's bytes while the object lives; empty where it cannot be read.
class FileView {
 public:
  explicit FileView(const std::filesystem::path& path);
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  ~FileView();
  std::string_view bytes() const { return {static_cast<const char*>(begin_), size_}; }

 private:
  void* begin_ = nullptr;
  std::size_t size_ = 0;
};

// The whole file, or nothing and errno's text in `error`.
std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error);

}  // namespace rml
