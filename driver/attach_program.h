// From an object to a program without a linker: the object is laid out behind the runner (the whole
// runtime, linked when rmlc was built, see runtime/runner), its relocations are applied.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rml {

// The bytes of the program whose table is `symbol` in the object, an ELF file for x86-64. Nothing where
// that takes a linker: the object needs a function that the runner does not export, or one of the two is not of
// the expected form.
std::optional<std::string> attach_program(std::string_view runner, std::string_view object, const std::string& symbol);

}  // namespace rml
