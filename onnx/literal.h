// Numbers as they are written in a program.
#pragma once

#include <optional>
#include <string>

#include "semantics/values/type.h"

namespace rml::onnx {

std::string float_text(double value);
// Returns a literal of the tensor's dtype, or nothing if an element has no literal.
std::optional<std::string> literal(const Tensor&);

}  // namespace rml::onnx
