// The standard library as `rmlc explain` shows it: a node's comment and header, as its module has them.
//
// Modules are read where they lie (Resources::stdlib); of a node the comment stands right before its header, each line
// behind `-- `, and the first lines of a module are a comment on the whole of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rml {

// "signal.hann", in the order of modules and of their texts; of the prelude the bare names, which need no import.
std::vector<std::string> library_topics(const std::filesystem::path& stdlib);

// What is known of "signal.hann", of "hann" where one module has it, or of a module; nothing if there is none.
std::optional<std::string> library_page(const std::filesystem::path& stdlib, const std::string& topic);

}  // namespace rml
