// What unknown names are likely to mean: those of other languages and libraries, and of nodes that a
// program has not imported. For messages only.
#pragma once

#include <string>
#include <string_view>

namespace rml {

// The dtype for a word that is none, "f32" for "float32" and "f23"; "" if no idea.
std::string dtype_meant(const std::string& word);
// The operator that other libraries call so, "concat" for "cat"; "" if there is none.
std::string_view operator_meant(std::string_view word);
// The node of the standard library that has the name, "activation.gelu"; "" if there is none.
std::string library_node(std::string_view name);

}  // namespace rml
