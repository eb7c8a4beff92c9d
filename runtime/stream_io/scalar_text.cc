// Most decimals in files are short: an integer of up to 19 digits that fits in 53 bits, times or
// over a power of ten up to 10^22. Both are exact doubles, so one multiplication or division
// rounds correctly (Clinger 1990). For f32 the double is rounded once more, which can only be
// wrong if the double is exactly midway between two floats. These, subnormals and all other
// numbers go to std::from_chars.
#include "runtime/stream_io/scalar_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

constexpr std::array<double, 23> power_of_ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

bool is_letter(char c) { return static_cast<unsigned char>((c | 0x20) - 'a') < 26; }

// A decimal as digits × 10^exponent, if it is short enough for exact arithmetic.
struct ShortDecimal {
  std::uint64_t digits = 0;
  int exponent = 0;
  const char* end = nullptr;  // position after the number; null: it is not a short decimal
};

ShortDecimal scan_short_decimal(const char* at, const char* end) {
  ShortDecimal decimal;
  std::uint64_t digits = 0;
  const char* const first = at;
  while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
  std::ptrdiff_t count = at - first;
  std::ptrdiff_t fraction = 0;
  if (at < end && *at == '.') {
    const char* const point = ++at;
    while (at < end && is_digit(*at)) digits = digits * 10 + static_cast<std::uint64_t>(*at++ - '0');
    fraction = at - point;
    count += fraction;
  }
  if (count == 0 || count > 19) return decimal;
  int exponent = 0;
  if (at < end && (*at | 0x20) == 'e') {
    const char* power = at + 1;
    const bool negative = power < end && *power == '-';
    if (power < end && (*power == '-' || *power == '+')) ++power;
    const char* const power_digits = power;
    while (power < end && is_digit(*power) && power - power_digits < 4) exponent = exponent * 10 + (*power++ - '0');
    if (power == power_digits || (power < end && is_digit(*power))) return decimal;
    if (negative) exponent = -exponent;
    at = power;
  }
  decimal.digits = digits;
  decimal.exponent = exponent - static_cast<int>(fraction);
  decimal.end = at;
  return decimal;
}

// Returns false if the result might not be correctly rounded.
bool round_short_decimal(const ShortDecimal& decimal, double& value) {
  if (decimal.digits > (std::uint64_t{1} << 53) || decimal.exponent < -22 || decimal.exponent > 22) return false;
  const double digits = static_cast<double>(decimal.digits);
  value = decimal.exponent < 0 ? digits / power_of_ten[static_cast<std::size_t>(-decimal.exponent)]
                               : digits * power_of_ten[static_cast<std::size_t>(decimal.exponent)];
  return true;
}

bool narrow(double wide, float& value) {
  constexpr std::uint64_t lost_bits = (std::uint64_t{1} << 29) - 1;
  const bool midway = (std::bit_cast<std::uint64_t>(wide) & lost_bits) == std::uint64_t{1} << 28;
  const bool normal = wide == 0 || (wide >= 0x1p-126 && wide <= 0x1.fffffep127);
  if (midway || !normal) return false;
  value = static_cast<float>(wide);
  return true;
}

bool narrow(double wide, double& value) {
  value = wide;
  return true;
}

// from_chars reports overflow and underflow alike. A number that is too small reads as zero, as
// IEEE 754 rounds it; one that is too large is an error.
template <class Float>
Parsed from_chars_float(const char*& at, const char* end, Float& value) {
  const auto [stop, code] = std::from_chars(at, end, value);
  if (code == std::errc::invalid_argument) return Parsed::malformed;
  if (code == std::errc::result_out_of_range) {
    const std::string_view text(at, static_cast<std::size_t>(stop - at));
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos || text[0] == '0' || text[0] == '.';
    if (!tiny) return Parsed::out_of_range;
    value = 0;
  }
  at = stop;
  return Parsed::ok;
}

template <class Float>
Parsed parse_float(const char*& at, const char* end, Float& result) {
  const char* p = at;
  bool negative = false;
  if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
  if (p < end && (*p == '-' || *p == '+')) return Parsed::malformed;
  Float value{};
  double wide = 0;
  const ShortDecimal decimal = scan_short_decimal(p, end);
  if (decimal.end && round_short_decimal(decimal, wide) && narrow(wide, value)) {
    p = decimal.end;
  } else {
    const Parsed parsed = from_chars_float(p, end, value);
    if (parsed != Parsed::ok) return parsed;
  }
  result = negative ? -value : value;
  at = p;
  return Parsed::ok;
}

// Skips `.0` after an integer, for programs that write all numbers as floats.
const char* skip_no_fraction(const char* at, const char* end) {
  const char* p = at;
  if (p == end || *p != '.') return at;
  while (++p < end && *p == '0') {
  }
  const bool ends = p == end || !(is_digit(*p) || is_letter(*p));
  return ends && p > at + 1 ? p : at;
}

template <class Integer>
Parsed parse_integer(const char*& at, const char* end, Integer& value) {
  const char* p = at;
  if (p + 1 < end && *p == '+' && is_digit(p[1])) ++p;
  // For from_chars a negative number is malformed as an unsigned type; here it is out of range.
  if (std::is_unsigned_v<Integer> && p + 1 < end && *p == '-' && is_digit(p[1])) return Parsed::out_of_range;
  const auto [stop, code] = std::from_chars(p, end, value);
  if (code == std::errc::result_out_of_range) return Parsed::out_of_range;
  if (code != std::errc()) return Parsed::malformed;
  at = skip_no_fraction(stop, end);
  return Parsed::ok;
}

Parsed parse_bool(const char*& at, const char* end, std::uint8_t& value) {
  const char* stop = at;
  while (stop < end && (is_letter(*stop) || is_digit(*stop))) ++stop;
  char word[6] = {};
  if (stop == at || stop - at > 5) return Parsed::malformed;
  for (std::ptrdiff_t i = 0; i < stop - at; ++i) word[i] = static_cast<char>(is_letter(at[i]) ? at[i] | 0x20 : at[i]);
  const std::string_view text(word);
  if (text == "1" || text == "t" || text == "true") {
    value = 1;
  } else if (text == "0" || text == "f" || text == "false") {
    value = 0;
  } else {
    return Parsed::malformed;
  }
  at = stop;
  return Parsed::ok;
}

template <class T, Parsed (*parse)(const char*&, const char*, T&)>
Parsed parse_into(const char*& at, const char* end, void* to) {
  T value{};
  const Parsed result = parse(at, end, value);
  if (result == Parsed::ok) std::memcpy(to, &value, sizeof value);
  return result;
}

Parsed parse_half(std::uint8_t dtype, const char*& at, const char* end, void* to) {
  const char* p = at;
  double wide = 0;
  const Parsed result = parse_float(p, end, wide);
  if (result != Parsed::ok) return result;
  // Rounds to float with a sticky bit (round to odd), so that the second rounding gives the same
  // result as rounding the double directly.
  float value = static_cast<float>(wide);
  if (std::isfinite(value) && static_cast<double>(value) != wide) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if (std::abs(static_cast<double>(value)) > std::abs(wide)) --bits;
    value = std::bit_cast<float>(bits | 1u);
  }
  const std::uint16_t half = dtype == RML_F16 ? f16_from_float(value) : bf16_from_float(value);
  const bool infinite = dtype == RML_F16 ? (half & 0x7fffu) == 0x7c00u : (half & 0x7fffu) == 0x7f80u;
  if (infinite && std::isfinite(wide)) return Parsed::out_of_range;
  std::memcpy(to, &half, sizeof half);
  at = p;
  return Parsed::ok;
}

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Integer>
char* format_integer(const void* value, char* to) {
  return std::to_chars(to, to + longest_scalar, load<Integer>(value)).ptr;
}

char* format_text(std::string_view text, char* to) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Small whole numbers are frequent and need no search for the shortest digits. From 100000 on,
// the scientific form can be shorter. Null if the value is not such a number.
template <class Float>
char* format_whole(Float value, char* to) {
  if (!(value > Float{-100000} && value < Float{100000})) return nullptr;
  const int whole = static_cast<int>(value);
  if (static_cast<Float>(whole) != value || (whole == 0 && std::signbit(value))) return nullptr;
  return std::to_chars(to, to + longest_scalar, whole).ptr;
}

template <class Float>
char* format_float(Float value, char* to) {
  if (std::isnan(value)) return format_text("nan", to);
  if (char* const end = format_whole(value, to)) return end;
  return std::to_chars(to, to + longest_scalar, value).ptr;
}

// Finds the fewest digits that read back, because to_chars does not support 16-bit floats.
char* format_half(std::uint8_t dtype, std::uint16_t bits, char* to) {
  const float value = dtype == RML_F16 ? float_from_f16(bits) : float_from_bf16(bits);
  if (!std::isfinite(value)) return format_float(value, to);
  if (char* const end = format_whole(value, to)) return end;
  for (int digits = 1;; ++digits) {
    char* const end = std::to_chars(to, to + longest_scalar, value, std::chars_format::general, digits).ptr;
    const char* at = to;
    std::uint16_t back = 0;
    const Parsed parsed = parse_half(dtype, at, end, &back);
    if (digits == 9 || (parsed == Parsed::ok && back == bits)) return end;
  }
}

}  // namespace

Parsed parse_scalar(std::uint8_t dtype, const char*& at, const char* end, void* to) {
  switch (dtype) {
    case RML_BOOL:
      return parse_into<std::uint8_t, parse_bool>(at, end, to);
    case RML_I8:
      return parse_into<std::int8_t, parse_integer<std::int8_t>>(at, end, to);
    case RML_U8:
      return parse_into<std::uint8_t, parse_integer<std::uint8_t>>(at, end, to);
    case RML_I16:
      return parse_into<std::int16_t, parse_integer<std::int16_t>>(at, end, to);
    case RML_I32:
      return parse_into<std::int32_t, parse_integer<std::int32_t>>(at, end, to);
    case RML_I64:
      return parse_into<std::int64_t, parse_integer<std::int64_t>>(at, end, to);
    case RML_U16:
      return parse_into<std::uint16_t, parse_integer<std::uint16_t>>(at, end, to);
    case RML_U32:
      return parse_into<std::uint32_t, parse_integer<std::uint32_t>>(at, end, to);
    case RML_U64:
      return parse_into<std::uint64_t, parse_integer<std::uint64_t>>(at, end, to);
    case RML_F16:
    case RML_BF16:
      return parse_half(dtype, at, end, to);
    case RML_F32:
      return parse_into<float, parse_float<float>>(at, end, to);
    case RML_F64:
      return parse_into<double, parse_float<double>>(at, end, to);
    default:
      return Parsed::malformed;
  }
}

Parsed parse_whole_scalar(std::uint8_t dtype, std::string_view text, void* to) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const Parsed result = parse_scalar(dtype, at, end, to);
  return result == Parsed::ok && at != end ? Parsed::malformed : result;
}

std::string double_text(double value) {
  char text[longest_scalar];
  return {text, format_scalar(RML_F64, &value, text, BoolText::letter)};
}

char* format_scalar(std::uint8_t dtype, const void* value, char* to, BoolText bools) {
  switch (dtype) {
    case RML_BOOL: {
      const bool is_true = load<std::uint8_t>(value) != 0;
      if (bools == BoolText::letter) return format_text(is_true ? "T" : "F", to);
      return format_text(is_true ? "true" : "false", to);
    }
    case RML_I8:
      return format_integer<std::int8_t>(value, to);
    case RML_U8:
      return format_integer<std::uint8_t>(value, to);
    case RML_I16:
      return format_integer<std::int16_t>(value, to);
    case RML_I32:
      return format_integer<std::int32_t>(value, to);
    case RML_I64:
      return format_integer<std::int64_t>(value, to);
    case RML_U16:
      return format_integer<std::uint16_t>(value, to);
    case RML_U32:
      return format_integer<std::uint32_t>(value, to);
    case RML_U64:
      return format_integer<std::uint64_t>(value, to);
    case RML_F16:
    case RML_BF16:
      return format_half(dtype, load<std::uint16_t>(value), to);
    case RML_F32:
      return format_float(load<float>(value), to);
    default:
      return format_float(load<double>(value), to);
  }
}

std::string parse_complaint(std::uint8_t dtype, Parsed result, std::string_view text) {
  constexpr std::size_t shown = 40;
  std::string quoted = "'" + std::string(text.substr(0, shown)) + (text.size() > shown ? "…'" : "'");
  const std::string name(dtype_name(dtype));
  if (result == Parsed::out_of_range) {
    switch (dtype) {
      case RML_I8:
        return quoted + " does not fit in an i8 (-128 to 127)";
      case RML_U8:
        return quoted + " does not fit in a u8 (0 to 255)";
      case RML_I16:
        return quoted + " does not fit in an i16 (-32768 to 32767)";
      case RML_I32:
        return quoted + " does not fit in an i32 (-2147483648 to 2147483647)";
      case RML_I64:
        return quoted + " does not fit in an i64 (-9223372036854775808 to 9223372036854775807)";
      case RML_U16:
        return quoted + " does not fit in a u16 (0 to 65535)";
      case RML_U32:
        return quoted + " does not fit in a u32 (0 to 4294967295)";
      case RML_U64:
        return quoted + " does not fit in a u64 (0 to 18446744073709551615)";
      default:
        return quoted + " is too large for " + name;
    }
  }
  if (dtype == RML_BOOL) return quoted + " is not a bool (true or false, T or F, 1 or 0)";
  const std::string said = quoted + " is not " + (is_unsigned(dtype) || dtype == RML_BF16 ? "a " : "an ") + name;
  // The type of an input without an annotation is inferred, and is i32 where every type of number fits. The message
  // therefore names the annotation for i32 only.
  double number = 0;
  if (dtype == RML_I32 && parse_whole_scalar(RML_F64, text, &number) == Parsed::ok)
    return said + "; declare an input of floats as x: f32";
  return said;
}

}  // namespace rml::rt
