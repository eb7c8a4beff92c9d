// Computes the strides of dense tensors in row-major order.
#include "semantics/values/strides.h"

namespace rml {

std::int64_t elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Strides dense_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides dense = dense_strides(from);
  Strides strides(to.size(), 0);
  for (std::size_t k = 1; k <= from.size() && k <= to.size(); ++k) {
    const std::size_t axis = from.size() - k;
    strides[to.size() - k] = from[axis] == 1 ? 0 : dense[axis];
  }
  return strides;
}

}  // namespace rml
