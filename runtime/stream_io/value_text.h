// Formats a value as in chronograms: 1, -2.5, T, [1,2;3,4], and [[1,2],[3,4]] for the shape [2,
// 1, 2].
#pragma once

#include <string>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// Appends the text of a value. `data` are its elements.
void append_value(const rml_port& port, const void* data, std::string& text);

}  // namespace rml::rt
