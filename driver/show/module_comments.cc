// Reads a module line by line (see module_comments.h).
#include "driver/show/module_comments.h"

#include <algorithm>
#include <utility>

#include "compiler/read_file.h"

namespace rml {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The header that begins in that line, with the lines up to its outputs.
std::string header_at(const std::vector<std::string>& lines, std::size_t& i) {
  std::string header = lines[i];
  const auto is_complete = [&] {
    const std::size_t arrow = header.find("->");
    return arrow != std::string::npos && header.find(')', arrow) != std::string::npos;
  };
  while (!is_complete() && i + 1 < lines.size() && lines[i + 1].starts_with(' ')) {
    const std::string& more = lines[++i];
    header += " " + more.substr(std::min(more.find_first_not_of(' '), more.size()));
  }
  return header;
}

}  // namespace

ModuleComments read_comments(const std::filesystem::path& file, std::string name) {
  ModuleComments module{std::move(name), file, {}, {}};
  std::string error;
  std::vector<std::string> comment;
  bool opening = true;
  const std::vector<std::string> lines = lines_of(read_file(file, error).value_or(""));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("--")) {
      comment.push_back(line.substr(std::min<std::size_t>(line.size(), line.starts_with("-- ") ? 3 : 2)));
      continue;
    }
    if (line.starts_with("node ")) {
      const std::size_t begin = std::min(line.find_first_not_of(' ', 5), line.size());
      const auto end =
          std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(begin), line.end(), is_name_character);
      std::string node(line.begin() + static_cast<std::ptrdiff_t>(begin), end);
      std::string header = header_at(lines, i);
      module.nodes.push_back({std::move(node), std::move(header), std::exchange(comment, {})});
    } else if (opening) {
      module.comment = std::exchange(comment, {});
    }
    opening = false;
    comment.clear();
  }
  return module;
}

std::vector<ModuleComments> read_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".rml" && entry.is_regular_file(error)) files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<ModuleComments> modules;
  for (const auto& file : files) modules.push_back(read_comments(file, file.stem().string()));
  return modules;
}

std::string topic_of(const ModuleComments& module, const NodeComment& node) {
  return module.name == "prelude" ? node.name : module.name + "." + node.name;
}

std::vector<CommentPart> parts_of(const std::vector<std::string>& comment) {
  constexpr std::string_view indentation = "    ";
  std::vector<CommentPart> parts;
  bool begins = true;
  for (const std::string& line : comment) {
    if (line.find_first_not_of(' ') == std::string::npos) {
      begins = true;
      continue;
    }
    const bool code = line.starts_with(indentation);
    if (begins || parts.back().code != code) parts.push_back({code, {}});
    parts.back().lines.push_back(code ? line.substr(indentation.size()) : line);
    begins = false;
  }
  return parts;
}

}  // namespace rml
