// A literal gives back the bits of the value; otherwise there is none.
#include "onnx/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rml::onnx {

std::string float_text(double value) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

namespace {

// Returns the element as written in a program. A NaN whose sign or payload differs from that of
// `nan` has no text.
template <class T>
std::optional<std::string> element_text(T value) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto nan = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
  if (std::isnan(value) && std::bit_cast<Bits>(value) != nan) return std::nullopt;
  char digits[64];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  // The compiler first reads the literal as an f64, which must not change its value.
  if (std::isfinite(value) && static_cast<T>(std::strtod(text.c_str(), nullptr)) != value)
    return float_text(static_cast<double>(value));
  return text;
}

}  // namespace

std::optional<std::string> literal(const Tensor& t) {
  constexpr std::int64_t most = 16;
  if (t.elements() > most || t.elements() == 0 || t.shape().size() > 1) return std::nullopt;
  std::string text;
  for (std::int64_t i = 0; i < t.elements(); ++i) {
    if (i > 0) text += ", ";
    if (t.dtype() == DType::boolean) {
      text += t.as<std::uint8_t>()[i] != 0 ? "true" : "false";
    } else if (t.dtype() == DType::f32 || t.dtype() == DType::f64) {
      const auto number = t.dtype() == DType::f64 ? element_text(t.as<double>()[i]) : element_text(t.as<float>()[i]);
      if (!number) return std::nullopt;
      text += *number;
    } else if (is_integer(t.dtype())) {
      text += to_string([&] {
        Tensor one(t.dtype(), {});
        const std::size_t size = byte_size(t.dtype());
        std::memcpy(one.data(), static_cast<const char*>(t.data()) + static_cast<std::size_t>(i) * size, size);
        return one;
      }());
    } else {
      return std::nullopt;
    }
  }
  return t.shape().empty() ? text : "[" + text + "]";
}

}  // namespace rml::onnx
