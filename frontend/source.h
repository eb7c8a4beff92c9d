// Source texts and places in them.
//
// A place is a Span: a half-open range of bytes in one registered file. A SourceMap registers
// each file once. It alone converts byte offsets to lines and columns; columns count Unicode code
// points from 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rml {

struct Span {
  std::uint32_t file = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

// The span from the beginning of a to the end of b, which are in the same file.
inline Span join(Span a, Span b) {
  return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class SourceMap {
 public:
  // File 0 is an empty built-in file, for spans of constructs that the user did not write.
  SourceMap();
  std::uint32_t add(std::string path, std::string text);
  std::size_t size() const { return files_.size(); }
  const std::string& path(std::uint32_t file) const { return files_[file].path; }
  const std::string& text(std::uint32_t file) const { return files_[file].text; }
  std::string_view text(Span span) const;
  LineColumn line_column(std::uint32_t file, std::uint32_t offset) const;
  // Returns the text of the line without the characters that end it.
  std::string_view line(std::uint32_t file, std::uint32_t line) const;
  std::uint32_t line_begin(std::uint32_t file, std::uint32_t line) const;
  // Returns the place as "path:line:column".
  std::string place(Span span) const;

 private:
  struct File {
    std::string path;
    std::string text;
    std::vector<std::uint32_t> lines;        // byte offset of the beginning of each line
    std::vector<std::uint32_t> code_points;  // number of code points before each block of bytes
  };
  std::uint32_t code_points_before(const File& file, std::uint32_t offset) const;
  std::vector<File> files_;
};

}  // namespace rml
