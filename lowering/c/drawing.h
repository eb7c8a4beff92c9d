// Functions that draw random tensors; they precede all other functions of a C file.
#pragma once

#include <string>

#include "lowering/c/helpers.h"

namespace rml::c99 {

// Adds the function that draws elements of this dtype like the kernel of this symbol, and returns its name; empty if no
// such function exists.
std::string add_drawing(Helpers&, const std::string& symbol, DType);

}  // namespace rml::c99
