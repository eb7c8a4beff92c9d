// Random initial values of network parameters, expressed as uniform or normal draws.
#pragma once

#include <optional>
#include <string_view>

#include "semantics/values/type.h"

namespace rml {

struct ScaledDraw {
  bool normal = false;
  double first = 0, second = 0;  // uniform: low and high; normal: mean and deviation
};

// For glorot_uniform, he_normal and the like: the draw for the fans of the shape
// (runtime/kernels/random.cc). Nothing for other operators.
std::optional<ScaledDraw> scaled_draw(std::string_view op, const Shape& shape);

}  // namespace rml
