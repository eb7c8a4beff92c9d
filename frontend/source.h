// Source text and places in it.
//
// Every place the compiler talks about is a Span: a half-open byte range in one
// registered file. Files are registered once in a SourceMap, which alone turns byte
// offsets into lines and columns (columns count Unicode code points, from 1).
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

// From the beginning of a to the end of b; both lie in one file.
inline Span join(Span a, Span b) {
  return {a.file, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

class SourceMap {
 public:
  // File 0 is always the empty built-in file: spans of things no user wrote.
  SourceMap();
  std::uint32_t add(std::string path, std::string text);
  std::size_t size() const { return files_.size(); }
  const std::string& path(std::uint32_t file) const { return files_[file].path; }
  const std::string& text(std::uint32_t file) const { return files_[file].text; }
  std::string_view text(Span span) const;
  LineColumn line_column(std::uint32_t file, std::uint32_t offset) const;
  // The line's text without its end-of-line characters.
  std::string_view line(std::uint32_t file, std::uint32_t line) const;
  std::uint32_t line_begin(std::uint32_t file, std::uint32_t line) const;
  // "path:line:column"
  std::string place(Span span) const;

 private:
  struct File {
    std::string path;
    std::string text;
    std::vector<std::uint32_t> lines;        // byte offset of the beginning of each line
    std::vector<std::uint32_t> code_points;  // how many begin before every so many bytes
  };
  std::uint32_t code_points_before(const File& file, std::uint32_t offset) const;
  std::vector<File> files_;
};

}  // namespace rml
