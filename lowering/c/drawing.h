// Functions that draw random tensors, for the front of a C file.
#pragma once

#include <string>

#include "lowering/c/helpers.h"

namespace rml::c99 {

// The function that draws elements of this dtype as the kernel of this symbol does; empty: there is none here.
std::string add_drawing(Helpers&, const std::string& symbol, DType);

}  // namespace rml::c99
