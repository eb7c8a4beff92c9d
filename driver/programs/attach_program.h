// Makes a program from an object without a linker: the object is appended to the runner (the whole runtime, linked when
// rmlc was built, see runtime/runner), and its relocations are applied.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "driver/base/output_file.h"

namespace rml {

// Makes the program whose table is `symbol` in the object, an ELF file for x86-64 or AArch64. Returns nothing if a
// linker is needed: the object needs a function that the runner does not export, the two are for different processors,
// or one of them has an unexpected form.
std::optional<AttachedProgram> attach_program(std::string_view runner, std::string_view object,
                                              const std::string& symbol);

}  // namespace rml
