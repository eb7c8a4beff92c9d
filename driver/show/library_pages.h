// Nodes and modules as `rmlc explain` shows them: the comment and the header, from the standard library and from the
// user's own modules.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driver/show/module_comments.h"

namespace rml {

class LibraryPages {
 public:
  // Modules of `folders` (the user's, in the order of an import's search) precede those of `stdlib`.
  LibraryPages(const std::filesystem::path& stdlib, const std::vector<std::filesystem::path>& folders);

  // Topics such as "signal.hann", in the order of modules and of their texts.
  std::vector<std::string> topics_of_stdlib() const;
  std::vector<std::string> topics_of_user() const;
  // The page of "signal.hann", of "hann" in every module that has such a node, of a module, or of a file; nothing if
  // there is none.
  std::optional<std::string> page(const std::string& topic) const;

  struct Found {
    std::string topic, title;  // the title is the first sentence of the comment
  };
  // The modules and nodes whose name or comment contains the word, in any case.
  std::vector<Found> search(const std::string& word) const;

 private:
  std::vector<std::filesystem::path> folders_;
  std::vector<ModuleComments> user_, stdlib_;
};

// True if a text contains a word, regardless of case.
bool mentions(std::string_view text, std::string_view word);
// The text up to the first full stop that ends a sentence, on one line.
std::string first_sentence(std::string_view text);

}  // namespace rml
