// Reads elements and tensors from text; the inverse of to_string(Tensor).
//
// Accepts the output of type.cc: T/F, decimal integers within the dtype's range, decimal floats,
// nan, inf, -inf; tensors as [1,2;3,4] without spaces, with a pair of brackets for every axis
// before the last two.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

// Stores the element at `element` (byte_size(dtype) bytes). False if the text is no element.
bool read_element(DType dtype, std::string_view text, void* element);

// Nothing if the text is no tensor of this dtype and shape.
std::optional<Tensor> read_tensor(DType dtype, const Shape& shape, std::string_view text);

}  // namespace rml
