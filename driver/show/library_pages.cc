// Pages from the comments of modules. Modules are read once for each call of `rmlc explain`, because they are few and
// small.
#include "driver/show/library_pages.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace rml {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string page_of(const ModuleComments& module, const NodeComment& node) {
  const bool common = module.name == "prelude";
  const std::string comment = node.comment.empty() ? "" : "\n" + text_of(node.comment);
  return topic_of(module, node) + "\n\n" + node.header + "\n" + comment + "\n" +
         (common ? "It belongs to the prelude, so it needs no import.\n" : "It needs `import " + module.name + ";`.\n");
}

std::string page_of(const ModuleComments& module) {
  std::string page = module.name + "\n" + (module.comment.empty() ? "" : "\n" + text_of(module.comment));
  page += "\nNodes:\n";
  for (const NodeComment& node : module.nodes) page += "  " + topic_of(module, node) + "\n";
  return page;
}

std::vector<std::string> topics_of(const std::vector<ModuleComments>& modules) {
  std::vector<std::string> topics;
  for (const ModuleComments& module : modules)
    for (const NodeComment& node : module.nodes) topics.push_back(topic_of(module, node));
  return topics;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// The file of a module in a folder; "filters.audio" is filters/audio.rml.
fs::path file_in(const fs::path& folder, std::string module) {
  std::ranges::replace(module, '.', '/');
  return folder / (module + ".rml");
}

}  // namespace

bool mentions(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return !std::ranges::search(text, word, same).empty();
}

std::string first_sentence(std::string_view text) {
  std::string sentence;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool break_after = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n';
    if (text[i] == '\n' && i + 1 < text.size() && text[i + 1] == '\n') break;
    sentence += text[i] == '\n' ? ' ' : text[i];
    if (text[i] == '.' && break_after) break;
  }
  while (sentence.ends_with(' ')) sentence.pop_back();
  return sentence;
}

LibraryPages::LibraryPages(const fs::path& stdlib, const std::vector<fs::path>& folders)
    : folders_(folders), stdlib_(read_folder(stdlib)) {
  for (const fs::path& folder : folders)
    for (ModuleComments& module : read_folder(folder)) user_.push_back(std::move(module));
}

std::vector<std::string> LibraryPages::topics_of_stdlib() const { return topics_of(stdlib_); }
std::vector<std::string> LibraryPages::topics_of_user() const { return topics_of(user_); }

std::optional<std::string> LibraryPages::page(const std::string& topic) const {
  if (topic.ends_with(".rml") && is_file(topic)) return page_of(read_comments(topic, fs::path(topic).stem().string()));
  for (const auto* modules : {&user_, &stdlib_})
    for (const ModuleComments& module : *modules)
      if (module.name == topic) return page_of(module);
  const std::size_t dot = topic.rfind('.');
  for (const fs::path& folder : folders_) {
    if (dot == std::string::npos) break;
    if (is_file(file_in(folder, topic))) return page_of(read_comments(file_in(folder, topic), topic));
    const std::string before = topic.substr(0, dot);
    if (!is_file(file_in(folder, before))) continue;
    const ModuleComments module = read_comments(file_in(folder, before), before);
    for (const NodeComment& node : module.nodes)
      if (node.name == topic.substr(dot + 1)) return page_of(module, node);
  }
  std::string page;
  for (const auto* modules : {&user_, &stdlib_})
    for (const ModuleComments& module : *modules)
      for (const NodeComment& node : module.nodes)
        if (topic_of(module, node) == topic || node.name == topic)
          page += (page.empty() ? "" : "\n") + page_of(module, node);
  if (page.empty()) return std::nullopt;
  return page;
}

std::vector<LibraryPages::Found> LibraryPages::search(const std::string& word) const {
  std::vector<Found> found;
  const auto consider = [&](const std::string& topic, const std::vector<std::string>& comment) {
    const std::string text = text_of(comment);
    if (mentions(topic, word) || mentions(text, word)) found.push_back({topic, first_sentence(text)});
  };
  for (const auto* modules : {&user_, &stdlib_})
    for (const ModuleComments& module : *modules) {
      consider(module.name, module.comment);
      for (const NodeComment& node : module.nodes) consider(topic_of(module, node), node.comment);
    }
  return found;
}

}  // namespace rml
