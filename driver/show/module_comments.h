// The doc comments of a module: the text above each node, and the text that opens the file.
//
// A module is read line by line, without the parser, so that a file with errors has its comments too. The comment of a
// node directly precedes its header, each line after `-- `. The first lines of a file, up to a blank line, are a
// comment on the whole module.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rml {

struct NodeComment {
  std::string name;
  std::string header;                // header of the node, such as `node hann(periodic, n) -> (w)`
  std::vector<std::string> comment;  // lines of the comment, without the dashes
};

struct ModuleComments {
  std::string name;  // name as in an import, such as `filters.audio`
  std::filesystem::path file;
  std::vector<std::string> comment;
  std::vector<NodeComment> nodes;
};

// Reads the comments of a file. A file that cannot be read has none.
ModuleComments read_comments(const std::filesystem::path& file, std::string name);
// The modules that lie directly in the folder, in the order of their names.
std::vector<ModuleComments> read_folder(const std::filesystem::path& folder);

// "signal.hann". Nodes of the prelude have bare names, because they need no import.
std::string topic_of(const ModuleComments&, const NodeComment&);

// A comment in its parts, which blank lines separate: text, and code, whose lines are indented by four spaces.
struct CommentPart {
  bool code = false;
  std::vector<std::string> lines;  // lines of code, without the indentation
};
std::vector<CommentPart> parts_of(const std::vector<std::string>& comment);

}  // namespace rml
