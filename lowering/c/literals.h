// Writes types and numbers in the notation of C99.
#pragma once

#include <string>

#include "semantics/values/type.h"

namespace rml::c99 {

// The type of a variable or an element: that of a port (lowering/signature.h), except that bool is bool.
std::string type_name(DType);

// Element i of the tensor, exactly, in the fewest digits.
std::string literal(const Tensor&, std::int64_t i);

// The text in quotes.
std::string quoted(const std::string& text);

}  // namespace rml::c99
