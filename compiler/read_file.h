// Reads whole files, either into a string or as a memory mapping.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace rml {

// The bytes of a file, mapped while the object lives. Empty if the file cannot be read.
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

// Returns the content of the file. On failure returns nothing and sets `error` to the text of
// errno.
std::optional<std::string> read_file(const std::filesystem::path& path, std::string& error);

}  // namespace rml
