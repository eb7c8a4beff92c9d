// From an object to a program without a linker: the object is laid out behind the runner (the whole
// runtime, linked when rmlc was built, see runtime/runner), its relocations are applied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rml {

// A program is the runner's bytes with some replaced, and a tail behind them.
struct AttachedProgram {
  std::vector<std::pair<std::uint64_t, std::string>> replaced;  // where, by what
  std::string tail;
};

// The program whose table is `symbol` in the object, an ELF file for x86-64 or AArch64. Nothing where that takes
// a linker: the object needs a function that the runner does not export, the two are not for the same processor, or
// one of them is not of the expected form.
std::optional<AttachedProgram> attach_program(std::string_view runner, std::string_view object,
                                              const std::string& symbol);

}  // namespace rml
