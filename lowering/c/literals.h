// Types and numbers as C99 writes them.
#pragma once

#include <string>

#include "semantics/values/type.h"

namespace rml::c99 {

// Of a variable or element: that of a port (lowering/signature.h), but bool is bool.
std::string type_name(DType);

// Element i of the tensor: exactly that number, in the fewest digits.
std::string literal(const Tensor&, std::int64_t i);

// Text between quotes.
std::string quoted(const std::string& text);

}  // namespace rml::c99
