// Where the elements of dense tensors lie, in elements.
#pragma once

#include "semantics/values/type.h"

namespace rml {

using Strides = std::vector<std::int64_t>;  // by axis

std::int64_t elements(const Shape&);
Strides dense_strides(const Shape&);
// Of a dense tensor of shape `from` seen at the shape `to` it broadcasts to.
Strides broadcast_strides(const Shape& from, const Shape& to);

}  // namespace rml
