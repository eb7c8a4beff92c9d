// The bodies of helper functions, as semantics/operators/scalar.h defines the operations. Integers wrap around, which
// is computed on unsigned types. The smallest integer divided by -1 is itself. A negative shift distance counts as one
// beyond all bits. Floats are converted to integers by truncation and saturation, and NaN becomes 0.
#include "lowering/c/helpers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lowering/c/literals.h"
#include "lowering/reserved.h"

namespace rml::c99 {

namespace {

struct Template {
  const char* operation;
  const char* of_signed;  // integers; N: the dtype, T: its type, U: unsigned with at least 32 bits, W: unsigned of the
                          // same width
  const char* of_unsigned;
};

constexpr std::array templates = {
    Template{"add", "static T add_N(T a, T b) { return (T)((U)a + (U)b); }",
             "static T add_N(T a, T b) { return (T)((U)a + (U)b); }"},
    Template{"sub", "static T sub_N(T a, T b) { return (T)((U)a - (U)b); }",
             "static T sub_N(T a, T b) { return (T)((U)a - (U)b); }"},
    Template{"mul", "static T mul_N(T a, T b) { return (T)((U)a * (U)b); }",
             "static T mul_N(T a, T b) { return (T)((U)a * (U)b); }"},
    Template{"negate", "static T negate_N(T x) { return (T)(0u - (U)x); }",
             "static T negate_N(T x) { return (T)(0u - (U)x); }"},
    Template{"div", "static T div_N(T a, T b) { return b == -1 ? (T)(0u - (U)a) : (T)(a / b); }",
             "static T div_N(T a, T b) { return (T)(a / b); }"},
    Template{"mod", "static T mod_N(T a, T b) { return b == -1 ? 0 : (T)(a % b); }",
             "static T mod_N(T a, T b) { return (T)(a % b); }"},
    Template{"abs", "static T abs_N(T x) { return x < 0 ? (T)(0u - (U)x) : x; }", "static T abs_N(T x) { return x; }"},
    Template{"sign", "static T sign_N(T x) { return (T)((x > 0) - (x < 0)); }",
             "static T sign_N(T x) { return (T)(x != 0); }"},
    Template{"left_shift", "static T left_shift_N(T x, T by) { return (W)by < BITSu ? (T)((U)x << by) : 0; }",
             "static T left_shift_N(T x, T by) { return by < BITSu ? (T)((U)x << by) : 0; }"},
    Template{"right_shift",
             "static T right_shift_N(T x, T by) {\n  if ((W)by >= BITSu) return x < 0 ? -1 : 0;\n"
             "  return x < 0 ? (T)~(~(U)x >> by) : (T)((U)x >> by);\n}",
             "static T right_shift_N(T x, T by) { return by < BITSu ? (T)(x >> by) : 0; }"},
    Template{"pow",
             "static T pow_N(T a, T b) {\n  U base = (U)a, product = 1, n = (U)b;\n"
             "  if (b < 0) return a == 1 ? 1 : a != -1 ? 0 : b % 2 == 0 ? 1 : -1;\n"
             "  for (; n != 0; n >>= 1) {\n    if ((n & 1u) != 0) product *= base;\n    base *= base;\n  }\n"
             "  return (T)product;\n}",
             "static T pow_N(T a, T b) {\n  U base = (U)a, product = 1, n = (U)b;\n"
             "  for (; n != 0; n >>= 1) {\n    if ((n & 1u) != 0) product *= base;\n    base *= base;\n  }\n"
             "  return (T)product;\n}"},
};

// Operations on floats that need a function. T, N and F stand for the type, its name and the suffix of functions.
constexpr std::array real_templates = {
    std::pair{"sign", "static T sign_N(T x) { return isnan(x) ? x : (T)((x > 0) - (x < 0)); }"},
    std::pair{"minimum", "static T minimum_N(T a, T b) { return a <= b || isnan(a) ? a : b; }"},
    std::pair{"maximum", "static T maximum_N(T a, T b) { return a >= b || isnan(a) ? a : b; }"},
};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Replaces whole words; BITSu, and N after an underscore, are replaced everywhere.
std::string filled(const std::string& text, DType dtype) {
  const std::size_t width = byte_size(dtype);
  const std::string wide = width == sizeof(std::uint64_t) ? "uint64_t" : "uint32_t";
  const std::string same = "uint" + std::to_string(8 * width) + "_t";
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k;
    while (end < text.size() && letter(text[end])) ++end;
    if (end == k) {
      result += text[k++];
      continue;
    }
    const std::string word = text.substr(k, end - k);
    k = end;
    if (word == "T")
      result += type_name(dtype);
    else if (word == "U")
      result += wide;
    else if (word == "W")
      result += same;
    else if (word == "BITSu")
      result += std::to_string(8 * width) + "u";
    else if (word.ends_with("_N"))
      result += word.substr(0, word.size() - 1) + std::string(name(dtype));
    else
      result += word;
  }
  return result;
}

// Converts a float to an integer. Both bounds are powers of two, or zero.
std::string saturating(const std::string& symbol, DType to, DType from) {
  const std::string type = type_name(to), source = type_name(from), suffix = from == DType::f32 ? "f" : "";
  const std::size_t bits = 8 * byte_size(to);
  const bool sign = is_signed(to);
  const std::string prefix = std::string(sign ? "INT" : "UINT") + std::to_string(bits);
  const std::string above = "0x1p" + std::to_string(sign ? bits - 1 : bits) + suffix;
  const std::string least = sign ? "-" + above : "0.0" + suffix;
  return "static " + type + " " + symbol + "(" + source + " x) {\n  if (isnan(x)) return 0;\n  if (x >= " + above +
         ") return " + prefix + "_MAX;\n  if (x <= " + least + ") return " + (sign ? prefix + "_MIN" : "0") +
         ";\n  return (" + type + ")x;\n}";
}

constexpr const char* f32_of_f16_text =
    "static float f32_of_f16(uint16_t half) {\n"
    "  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu, fraction = half & "
    "0x3ffu;\n"
    "  uint32_t bits = sign | ((exponent + 112u) << 23) | (fraction << 13);\n"
    "  float value;\n"
    "  if (exponent == 0) return sign != 0 ? -((float)fraction * 0x1p-24f) : (float)fraction * 0x1p-24f;\n"
    "  if (exponent == 0x1fu) bits = sign | 0x7f800000u | (fraction << 13);\n"
    "  memcpy(&value, &bits, sizeof value);\n  return value;\n}";
constexpr const char* f32_of_bf16_text =
    "static float f32_of_bf16(uint16_t half) {\n  const uint32_t bits = (uint32_t)half << 16;\n  float value;\n"
    "  memcpy(&value, &bits, sizeof value);\n  return value;\n}";
constexpr const char* f16_of_f32_text =
    "static uint16_t f16_of_f32(float value) {\n  uint32_t bits, magnitude, rounded;\n  uint16_t sign;\n"
    "  memcpy(&bits, &value, sizeof bits);\n  sign = (uint16_t)((bits >> 16) & 0x8000u);\n"
    "  magnitude = bits & 0x7fffffffu;\n"
    "  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);\n"
    "  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);\n"
    "  if (magnitude < 0x38800000u) { /* the addition rounds */\n    float small;\n"
    "    memcpy(&small, &magnitude, sizeof small);\n    small += 0.5f;\n    memcpy(&bits, &small, sizeof bits);\n"
    "    return (uint16_t)(sign | (bits - 0x3f000000u));\n  }\n"
    "  rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);\n"
    "  return (uint16_t)(sign | ((rounded - 0x38000000u) >> 13));\n}";
constexpr const char* bf16_of_f32_text =
    "static uint16_t bf16_of_f32(float value) {\n  uint32_t bits;\n  memcpy(&bits, &value, sizeof bits);\n"
    "  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);\n"
    "  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);\n}";
// Converts a double to a float by rounding to odd: the last bit tells whether digits were lost. Rounding the result
// once more then gives the double, correctly rounded.
constexpr const char* to_odd_text =
    "static float to_odd(double value) {\n  const float nearest = (float)value;\n  const double back = nearest;\n"
    "  uint32_t bits;\n  float odd;\n  memcpy(&bits, &nearest, sizeof bits);\n"
    "  if (back == value || isnan(value) || (bits & 1u) != 0) return nearest;\n"
    "  bits = fabs(back) > fabs(value) ? bits - 1u : bits + 1u;\n  memcpy(&odd, &bits, sizeof odd);\n  return odd;\n}";
constexpr const char* odd_of_i64_text =
    "static double odd_of_i64(int64_t x) {\n  const int64_t exact = INT64_C(1) << 53;\n"
    "  if (x < exact && x > -exact) return (double)x;\n"
    "  return (double)((x & ~INT64_C(2047)) | ((x & 2047) != 0 ? 2048 : 0));\n}";
constexpr const char* odd_of_u64_text =
    "static double odd_of_u64(uint64_t x) {\n  if (x < UINT64_C(1) << 53) return (double)x;\n"
    "  return (double)((x & ~UINT64_C(2047)) | ((x & 2047u) != 0 ? 2048u : 0u));\n}";

}  // namespace

bool is_helper(const std::string& name) {
  if (name == "draw_unit" || name == "draw_normals" || name == "philox" || name == "to_odd") return true;
  const std::size_t last = name.rfind('_');
  if (last == std::string::npos || !dtype_named(name.substr(last + 1))) return false;
  const std::string operation = name.substr(0, last);
  const auto is_it = [&](const auto& one) { return operation == one; };
  return operation.starts_with("draw_") || operation.ends_with("_of") || is_it("minimum") || is_it("maximum") ||
         std::ranges::any_of(templates, is_it, &Template::operation);
}

bool can_declare_function(const std::string& name) {
  return !is_reserved(name) && !is_helper(name) && std::ranges::find(function_macros, name) == function_macros.end() &&
         std::ranges::find(file_functions, name) == file_functions.end();
}

std::string Helpers::add(const std::string& name, const std::string& text) {
  if (there_.insert(name).second) {
    names_.take(name);
    text_ += text + "\n";
  }
  return name;
}

std::string Helpers::of(const std::string& operation, DType dtype) {
  const std::string symbol = operation + "_" + std::string(name(dtype));
  if (is_float(dtype)) {
    for (const auto& [which, text] : real_templates)
      if (operation == which) return add(symbol, filled(text, dtype));
    return symbol;
  }
  for (const Template& t : templates)
    if (operation == t.operation) return add(symbol, filled(is_signed(dtype) ? t.of_signed : t.of_unsigned, dtype));
  const std::string sign = operation == "minimum" ? " <= " : " >= ";
  return add(symbol, filled("static T " + operation + "_N(T a, T b) { return a" + sign + "b ? a : b; }", dtype));
}

std::string Helpers::conversion(DType to, DType from) {
  const std::string symbol = std::string(name(to)) + "_of_" + std::string(name(from));
  if (from == DType::f16) return add("f32_of_f16", f32_of_f16_text);
  if (from == DType::bf16) return add("f32_of_bf16", f32_of_bf16_text);
  if (to == DType::f16 || to == DType::bf16) {
    const std::string of_float = std::string(name(to)) + "_of_f32";
    add(of_float, to == DType::f16 ? f16_of_f32_text : bf16_of_f32_text);
    if (from == DType::f32) return of_float;
    add("to_odd", to_odd_text);
    const bool wide = from == DType::i64 || from == DType::u64;
    if (wide)
      add(from == DType::i64 ? "odd_of_i64" : "odd_of_u64", from == DType::i64 ? odd_of_i64_text : odd_of_u64_text);
    const std::string number = wide ? "odd_of_" + std::string(name(from)) + "(x)" : "x";
    return add(symbol, "static uint16_t " + symbol + "(" + type_name(from) + " x) { return " + of_float + "(to_odd(" +
                           number + ")); }");
  }
  return add(symbol, saturating(symbol, to, from));
}

}  // namespace rml::c99
