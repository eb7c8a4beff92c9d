// The likely meaning of unknown names: names of other languages and libraries, and of nodes that a program has not
// imported. For messages only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rml {

// The probable dtype for an unknown word: "f32" for "float32" and "f23"; "" if there is no guess.
std::string dtype_meant(const std::string& word);
// The operator that other libraries call so, "concat" for "cat"; "" if there is none.
std::string operator_meant(std::string_view word);
// The nodes of the standard library that have the name, or are called so elsewhere, "activation.gelu".
std::vector<std::string> nodes_of_library(std::string_view name);

// Advice for an argument of a library node that does not fit, if another node takes what the user
// probably has; empty otherwise.
std::string advice_on(std::string_view node, std::string_view parameter);

// A value of another language: how R(ML)² writes it, or a note if it has none; both empty: the word is unknown.
struct ForeignValue {
  std::string_view meant, note;
};
ForeignValue value_meant(std::string_view word);

}  // namespace rml
