// Formats a value as in chronograms: 1, -2.5, T, [1,2;3,4], and [[1,2],[3,4]] for the shape [2,
// 1, 2].
#pragma once

#include <string>

#include "runtime/base/rmlrt.h"

namespace rml::rt {

// data: the elements of a value of the port.
void append_value(const rml_port& port, const void* data, std::string& text);

}  // namespace rml::rt
