// Converts offsets to lines and columns.
//
// Each file keeps the offsets of its lines and, for every block of bytes, the number of code
// points before it. A conversion is a binary search and a count over the line, or over one block
// if the line is longer. A byte-order mark belongs to no line.
#include "frontend/source.h"

#include <algorithm>
#include <utility>

namespace rml {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

constexpr std::size_t block = 256;

// Every byte begins a column, except a continuation byte of UTF-8.
std::uint32_t columns(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::uint32_t>(std::count_if(text.begin(), text.end(), begins));
}

}  // namespace

SourceMap::SourceMap() { add("<built-in>", ""); }

std::uint32_t SourceMap::add(std::string path, std::string text) {
  File file{std::move(path), std::move(text), {}, {0}};
  const bool marked = std::string_view(file.text).starts_with(byte_order_mark);
  file.lines.push_back(marked ? static_cast<std::uint32_t>(byte_order_mark.size()) : 0);
  for (std::size_t i = 0; i < file.text.size(); ++i) {
    const bool lone_return = file.text[i] == '\r' && (i + 1 == file.text.size() || file.text[i + 1] != '\n');
    if (file.text[i] == '\n' || lone_return) file.lines.push_back(static_cast<std::uint32_t>(i + 1));
  }
  for (std::size_t i = 0; i + block <= file.text.size(); i += block) {
    file.code_points.push_back(file.code_points.back() + columns(std::string_view(file.text).substr(i, block)));
  }
  files_.push_back(std::move(file));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::string_view SourceMap::text(Span span) const {
  const std::string& whole = files_[span.file].text;
  const std::size_t begin = std::min<std::size_t>(span.begin, whole.size());
  const std::size_t end = std::clamp<std::size_t>(span.end, begin, whole.size());
  return std::string_view(whole).substr(begin, end - begin);
}

LineColumn SourceMap::line_column(std::uint32_t file, std::uint32_t offset) const {
  const std::vector<std::uint32_t>& lines = files_[file].lines;
  const auto next = std::upper_bound(lines.begin(), lines.end(), offset);
  if (next == lines.begin()) return {1, 1};
  const auto line = static_cast<std::uint32_t>(next - lines.begin());
  const std::uint32_t begin = lines[line - 1];
  const File& of = files_[file];
  if (offset - begin <= block) return {line, columns(std::string_view(of.text).substr(begin, offset - begin)) + 1};
  return {line, code_points_before(of, offset) - code_points_before(of, begin) + 1};
}

std::uint32_t SourceMap::code_points_before(const File& file, std::uint32_t offset) const {
  const std::size_t end = std::min<std::size_t>(offset, file.text.size());
  const std::size_t whole = end / block;
  return file.code_points[whole] + columns(std::string_view(file.text).substr(whole * block, end - whole * block));
}

std::string_view SourceMap::line(std::uint32_t file, std::uint32_t line) const {
  const std::vector<std::uint32_t>& lines = files_[file].lines;
  if (line == 0 || line > lines.size()) return {};
  const auto whole_end = static_cast<std::uint32_t>(files_[file].text.size());
  const std::uint32_t end = line < lines.size() ? lines[line] : whole_end;
  std::string_view result = text({file, lines[line - 1], end});
  while (!result.empty() && (result.back() == '\n' || result.back() == '\r')) result.remove_suffix(1);
  return result;
}

std::uint32_t SourceMap::line_begin(std::uint32_t file, std::uint32_t line) const {
  const std::vector<std::uint32_t>& lines = files_[file].lines;
  if (line == 0) return 0;
  return line <= lines.size() ? lines[line - 1] : static_cast<std::uint32_t>(files_[file].text.size());
}

std::string SourceMap::place(Span span) const {
  const LineColumn at = line_column(span.file, span.begin);
  return path(span.file) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

}  // namespace rml
