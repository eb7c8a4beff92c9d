// Draws that begin the parameters of a network, as those of uniform or normal numbers.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

struct ScaledDraw {
  bool normal = false;
  double first = 0, second = 0;  // low and high; mean and deviation
};

// Of glorot_uniform, he_normal and the like, by the fans of the shape (runtime/kernels/random.cc); of other operators
// nothing.
std::optional<ScaledDraw> scaled_draw(std::string_view op, const Shape& shape);

}  // namespace rml
