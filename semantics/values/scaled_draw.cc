// Computes bounds and deviations from the fans of a shape, by the formulas of the runtime's kernels.
#include "semantics/values/scaled_draw.h"

#include <cmath>

namespace rml {

std::optional<ScaledDraw> scaled_draw(std::string_view op, const Shape& shape) {
  const auto all = static_cast<double>(element_count(shape).value_or(0));
  const double out = shape.size() < 2 ? all : static_cast<double>(shape[0]);
  const double in =
      shape.size() < 2 ? all : static_cast<double>(element_count({shape.begin() + 1, shape.end()}).value_or(0));
  const auto within = [](double limit) { return ScaledDraw{false, -limit, limit}; };
  const auto around = [](double deviation) { return ScaledDraw{true, 0, deviation}; };
  if (op == "glorot_uniform") return within(std::sqrt(6 / (in + out)));
  if (op == "he_uniform") return within(std::sqrt(6 / in));
  if (op == "lecun_uniform") return within(std::sqrt(3 / in));
  if (op == "glorot_normal") return around(std::sqrt(2 / (in + out)));
  if (op == "he_normal") return around(std::sqrt(2 / in));
  if (op == "lecun_normal") return around(std::sqrt(1 / in));
  return std::nullopt;
}

}  // namespace rml
