// The inverse of to_string(Tensor): elements and tensors from text.
//
// Accepts what type.cc prints: T/F, decimal integers within the dtype's range, decimal
// floats, nan, inf, -inf; tensors as [1,2;3,4] without spaces, with a pair of brackets for
// every axis before the last two.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

// Stores the element at `element` (byte_size(dtype) bytes); false if the text is not one.
bool read_element(DType dtype, std::string_view text, void* element);

// Nothing if the text is not a tensor of this dtype and shape.
std::optional<Tensor> read_tensor(DType dtype, const Shape& shape, std::string_view text);

}  // namespace rml
