// Guesses the meaning of unknown names, for messages only: names of other languages and
// libraries, and of library nodes that the program has not imported.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml {

// The probable dtype for an unknown word: "f32" for "float32" and "f23"; "" if there is no guess.
std::string dtype_meant(const std::string& word);
// The operator that other libraries call by this name: "concat" for "cat"; "" if there is none.
std::string_view operator_meant(std::string_view word);
// The nodes of the standard library with this name, or with it in another library:
// "activation.gelu".
std::vector<std::string> nodes_of_library(std::string_view name);

}  // namespace rml
