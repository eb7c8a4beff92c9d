// What unknown names are likely to mean: those of other languages and libraries, and of nodes that a
// program has not imported. For messages only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml {

// The dtype for a word that is none, "f32" for "float32" and "f23"; "" if no idea.
std::string dtype_meant(const std::string& word);
// The operator that other libraries call so, "concat" for "cat"; "" if there is none.
std::string_view operator_meant(std::string_view word);
// The nodes of the standard library that have the name, or are called so elsewhere, "activation.gelu".
std::vector<std::string> nodes_of_library(std::string_view name);

}  // namespace rml
