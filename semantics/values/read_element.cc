// Reads elements and tensors from text.
//
// Floats are read as f64, except f32 as f32, so that no decimal is rounded twice; f16 and bf16
// are rounded from f64 to nearest even. The separators of a tensor must be exactly those of its
// shape, so a transposed or ragged text is refused.
#include "semantics/values/read_element.h"

#include <bit>
#include <charconv>
#include <cmath>

namespace rml {

namespace {

template <class T>
std::optional<T> number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
bool store(std::string_view text, void* element) {
  const auto value = number<T>(text);
  if (value) std::memcpy(element, &*value, sizeof(T));
  return value.has_value();
}

// Rounds to a 16-bit float with the given number of mantissa bits, to nearest even.
std::uint16_t narrow(double value, int mantissa_bits, int bias) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int top = (1 << (15 - mantissa_bits)) - 1;  // exponent field of infinities
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | top << mantissa_bits | 1 << (mantissa_bits - 1));
  value = std::fabs(value);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | top << mantissa_bits);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(value), 1 - bias);
  const int units = static_cast<int>(std::nearbyint(std::ldexp(value, std::min(mantissa_bits - exponent, 2000))));
  // `units` includes the implicit bit, which carries into the exponent field.
  const int magnitude = ((exponent + bias - 1) << mantissa_bits) + units;
  return static_cast<std::uint16_t>(sign | std::min(magnitude, top << mantissa_bits));
}

bool store_narrow(std::string_view text, int mantissa_bits, int bias, void* element) {
  const auto value = number<double>(text);
  if (!value) return false;
  const std::uint16_t bits = narrow(*value, mantissa_bits, bias);
  std::memcpy(element, &bits, sizeof bits);
  return true;
}

bool store_boolean(std::string_view text, void* element) {
  const bool truth = text == "T" || text == "true" || text == "1";
  if (!truth && text != "F" && text != "false" && text != "0") return false;
  *static_cast<std::uint8_t*>(element) = truth ? 1 : 0;
  return true;
}

}  // namespace

bool read_element(DType dtype, std::string_view text, void* element) {
  switch (dtype) {
    case DType::boolean:
      return store_boolean(text, element);
    case DType::i8:
      return store<std::int8_t>(text, element);
    case DType::u8:
      return store<std::uint8_t>(text, element);
    case DType::i16:
      return store<std::int16_t>(text, element);
    case DType::i32:
      return store<std::int32_t>(text, element);
    case DType::i64:
      return store<std::int64_t>(text, element);
    case DType::u16:
      return store<std::uint16_t>(text, element);
    case DType::u32:
      return store<std::uint32_t>(text, element);
    case DType::u64:
      return store<std::uint64_t>(text, element);
    case DType::f16:
      return store_narrow(text, 10, 15, element);
    case DType::bf16:
      return store_narrow(text, 7, 127, element);
    case DType::f32:
      return store<float>(text, element);
    case DType::f64:
      return store<double>(text, element);
  }
  return false;
}

std::optional<Tensor> read_tensor(DType dtype, const Shape& shape, std::string_view text) {
  Tensor tensor(dtype, shape);
  auto* bytes = static_cast<std::byte*>(tensor.data());
  if (shape.empty()) {
    if (!read_element(dtype, text, bytes)) return std::nullopt;
    return tensor;
  }
  const std::size_t pairs = tensor.elements() == 0 ? 1 : bracket_pairs(shape);
  const std::string opening(pairs, '['), closing(pairs, ']');
  if (text.size() < 2 * pairs || !text.starts_with(opening) || !text.ends_with(closing)) return std::nullopt;
  text = text.substr(pairs, text.size() - 2 * pairs);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (i > 0) {
      const std::string between = separator(shape, i);
      if (!text.starts_with(between)) return std::nullopt;
      text.remove_prefix(between.size());
    }
    const std::size_t length = std::min(text.find_first_of(",;]"), text.size());
    if (!read_element(dtype, text.substr(0, length), bytes + static_cast<std::size_t>(i) * byte_size(dtype))) {
      return std::nullopt;
    }
    text.remove_prefix(length);
  }
  if (!text.empty()) return std::nullopt;
  return tensor;
}

}  // namespace rml
