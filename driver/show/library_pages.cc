// Reads modules anew for each query, because they are few and small.
#include "driver/show/library_pages.h"

#include <algorithm>

#include "compiler/read_file.h"

namespace rml {
namespace {

struct LibraryNode {
  std::string module, name;
  std::string comment;  // text of the comment, without the dashes
  std::string header;   // `node hann(periodic, n) -> (w)`
};

struct LibraryModule {
  std::string name;
  std::string comment;
  std::vector<LibraryNode> nodes;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

LibraryModule read_module(const std::filesystem::path& file) {
  LibraryModule module{file.stem().string(), {}, {}};
  std::string error;
  std::string comment;
  bool first = true;
  const std::vector<std::string> lines = lines_of(read_file(file, error).value_or(""));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = lines[i];
    if (line.starts_with("--")) {
      comment += line.substr(std::min<std::size_t>(line.size(), 3)) + "\n";
      continue;
    }
    if (line.starts_with("node ")) {
      std::string header = line;
      while (header.find("->") == std::string::npos && i + 1 < lines.size()) {
        const std::string& more = lines[++i];
        header += " " + more.substr(std::min(more.find_first_not_of(' '), more.size()));
      }
      module.nodes.push_back({module.name, line.substr(5, line.find('(') - 5), comment, header});
    }
    if (first && line.empty()) module.comment = comment;
    first = false;
    comment.clear();
  }
  return module;
}

std::vector<LibraryModule> read_library(const std::filesystem::path& stdlib) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(stdlib, error))
    if (entry.path().extension() == ".rml") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<LibraryModule> modules;
  for (const auto& file : files) modules.push_back(read_module(file));
  return modules;
}

std::string topic_of(const LibraryNode& node) {
  return node.module == "prelude" ? node.name : node.module + "." + node.name;
}

std::string page_of(const LibraryNode& node) {
  const bool common = node.module == "prelude";
  return topic_of(node) + "\n\n" + node.header + "\n\n" + node.comment + "\n" +
         (common ? "It is of the prelude: every program has it.\n" : "It needs `import " + node.module + ";`.\n");
}

std::string page_of(const LibraryModule& module) {
  std::string page = module.name + "\n\n" + module.comment + "\nNodes:\n";
  for (const LibraryNode& node : module.nodes) page += "  " + topic_of(node) + "\n";
  return page;
}

}  // namespace

std::vector<std::string> library_topics(const std::filesystem::path& stdlib) {
  std::vector<std::string> topics;
  for (const LibraryModule& module : read_library(stdlib))
    for (const LibraryNode& node : module.nodes) topics.push_back(topic_of(node));
  return topics;
}

std::optional<std::string> library_page(const std::filesystem::path& stdlib, const std::string& topic) {
  const std::vector<LibraryModule> library = read_library(stdlib);
  std::vector<const LibraryNode*> found;
  for (const LibraryModule& module : library) {
    if (module.name == topic) return page_of(module);
    for (const LibraryNode& node : module.nodes)
      if (topic_of(node) == topic || node.name == topic) found.push_back(&node);
  }
  if (found.empty()) return std::nullopt;
  std::string page;
  for (const LibraryNode* node : found) page += (page.empty() ? "" : "\n") + page_of(*node);
  return page;
}

}  // namespace rml
