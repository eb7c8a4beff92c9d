// The standard library as `rmlc explain` shows it: a node's comment and header, from its module.
//
// Modules are read from Resources::stdlib. The comment of a node directly precedes its header, each line after `-- `.
// The first lines of a module are a comment on the whole module.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rml {

// Topics such as "signal.hann", in the order of modules and of their texts. Nodes of the prelude have bare names,
// because they need no import.
std::vector<std::string> library_topics(const std::filesystem::path& stdlib);

// The page of "signal.hann", of "hann" if only one module has it, or of a module; nothing if there is none.
std::optional<std::string> library_page(const std::filesystem::path& stdlib, const std::string& topic);

}  // namespace rml
