// Files that are read whole: as a text of their own, or where they lie.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rml {

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
