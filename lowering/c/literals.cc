// Prints numbers with the fewest decimal digits that read back exactly: 0.1f, 2.5, INT32_MIN.
#include "lowering/c/literals.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "lowering/signature.h"
#include "runtime/base/readable.h"

namespace rml::c99 {

namespace {

template <class T>
T element(const Tensor& t, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(t.data()) + static_cast<std::size_t>(i) * sizeof(T), sizeof value);
  return value;
}

template <class T>
std::string real(T value, const char* suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value < 0 ? "-INFINITY" : "INFINITY";
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + suffix;
}

std::string whole(std::int64_t value) {
  if (value == INT64_MIN) return "INT64_MIN";
  const bool wide = value > INT32_MAX || value < INT32_MIN;
  if (value == INT32_MIN) return "INT32_MIN";
  if (!wide) return std::to_string(value);
  return value < 0 ? "-INT64_C(" + std::to_string(-value) + ")" : "INT64_C(" + std::to_string(value) + ")";
}

}  // namespace

std::string type_name(DType dtype) { return dtype == DType::boolean ? "bool" : port_type(dtype); }

std::string literal(const Tensor& t, std::int64_t i) {
  switch (t.dtype()) {
    case DType::boolean:
      return element<std::uint8_t>(t, i) != 0 ? "true" : "false";
    case DType::i8:
      return whole(element<std::int8_t>(t, i));
    case DType::u8:
      return whole(element<std::uint8_t>(t, i));
    case DType::i16:
      return whole(element<std::int16_t>(t, i));
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return whole(element<std::uint16_t>(t, i));
    case DType::i32:
      return whole(element<std::int32_t>(t, i));
    case DType::i64:
      return whole(element<std::int64_t>(t, i));
    case DType::u32:
      return std::to_string(element<std::uint32_t>(t, i)) + "u";
    case DType::u64:
      return "UINT64_C(" + std::to_string(element<std::uint64_t>(t, i)) + ")";
    case DType::f32:
      return real(element<float>(t, i), "f");
    case DType::f64:
      return real(element<double>(t, i), "");
  }
  return "0";
}

namespace {

std::string octal(char c) {
  constexpr unsigned base = 8;
  const auto byte = static_cast<unsigned char>(c);
  std::string text = "\\";
  for (const unsigned digit : {byte / (base * base), byte / base % base, byte % base})
    text += static_cast<char>('0' + digit);
  return text;
}

}  // namespace

// Characters that are invisible or change the order of the text are written as the octal codes of their bytes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = first_code_point(std::string_view(text).substr(i));
    const std::string_view bytes = std::string_view(text).substr(i, c.bytes);
    i += c.bytes;
    if (bytes == "\"" || bytes == "\\" || bytes == "?") result += '\\';
    if (c.valid && is_readable(c.value))
      result += bytes;
    else
      for (const char byte : bytes) result += octal(byte);
  }
  return result + '"';
}

}  // namespace rml::c99
