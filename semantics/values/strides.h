// Strides of dense tensors, in elements.
#pragma once

#include "semantics/values/type.h"

namespace rml {

using Strides = std::vector<std::int64_t>;  // distances between neighbouring elements, one per axis

std::int64_t elements(const Shape&);
Strides dense_strides(const Shape&);
// The strides of a dense tensor of shape `from`, broadcast to the shape `to`.
Strides broadcast_strides(const Shape& from, const Shape& to);

}  // namespace rml
