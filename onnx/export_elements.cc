// Exports operators that compute element by element. ONNX leaves some results undefined: the
// smallest integer divided by -1, casts out of range, shifts by too many bits. The written nodes
// give the results of the language there (docs/manual/operators.md).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "onnx/export_operators.h"
#include "onnx/operator_types.h"

namespace rml::onnx {

namespace {

std::string one(const Site& s) { return s.to.scalar(s.dtype(0), 1); }

// log(1 + x) loses digits near 0. With u = 1 + x, the formula log(u) x / (u - 1) keeps them.
std::string write_log1p(const Site& s) {
  const std::string &x = s.operands[0], u = s.to.node("Add", {x, one(s)});
  const std::string quotient =
      s.to.node("Div", {s.to.node("Mul", {s.to.node("Log", {u}), x}), s.to.node("Sub", {u, one(s)})});
  const std::string huge = s.to.node("Log", {u});
  const std::string near = s.to.node("Where", {s.to.node("IsInf", {u}), huge, quotient});
  return s.to.node("Where", {s.to.node("Equal", {u, one(s)}), x, near});
}
// Writes expm1 as exp(x) - 1 = tanh(x / 2) (exp(x) + 1).
std::string write_expm1(const Site& s) {
  const std::string& x = s.operands[0];
  const std::string half = s.to.node("Tanh", {s.to.node("Mul", {x, s.to.scalar(s.dtype(0), 0.5)})});
  return s.to.node("Mul", {half, s.to.node("Add", {s.to.node("Exp", {x}), one(s)})});
}
Writer write_scaled_log(double factor) {
  return [factor](const Site& s) {
    return s.to.node("Mul", {s.to.node("Log", s.operands), s.to.scalar(s.dtype(0), factor)});
  };
}

// ---- integers

std::string write_filled(const Site& s, DType dtype, bool greatest) {
  const std::size_t bits = byte_size(dtype) * 8 - (is_signed(dtype) ? 1 : 0);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
  // The low bytes of the number are the value, because numbers are little-endian.
  const std::uint64_t value = greatest ? most : is_signed(dtype) ? ~most : 0;
  Tensor t(dtype, {});
  std::copy_n(reinterpret_cast<const char*>(&value), byte_size(dtype), static_cast<char*>(t.data()));
  return s.to.constant(t);
}

bool may_be_minus_one(const Site& s, std::size_t k) {
  if (!is_signed(s.dtype(k))) return false;
  const Tensor* divisor = s.constant(k);
  const auto minus_one = [](std::int64_t n) { return n == -1; };
  return divisor == nullptr || std::ranges::any_of(divisor->integers(), minus_one);
}

// The smallest integer divided by -1 wraps in the language but traps on machines, so -1 is
// handled separately.
std::string write_quotient(const Site& s) {
  if (is_float(s.dtype(0)) || !may_be_minus_one(s, 1)) return s.to.node("Div", s.operands);
  const std::string& n = s.operands[1];
  const std::string minus = s.to.node("Equal", {n, s.to.scalar(s.dtype(1), -1)});
  const std::string others = s.to.node("Div", {s.operands[0], s.to.node("Where", {minus, one(s), n})});
  return s.to.node("Where", {minus, s.to.node("Neg", {s.operands[0]}), others});
}

std::string write_remainder(const Site& s, bool with_sign_of_dividend) {
  std::string n = s.operands[1];
  if (!is_float(s.dtype(0)) && may_be_minus_one(s, 1))
    n = s.to.node("Where", {s.to.node("Equal", {n, s.to.scalar(s.dtype(1), -1)}), one(s), n});
  return s.to.node("Mod", {s.operands[0], n}, {{"fmod", std::int64_t{with_sign_of_dividend}}});
}

std::string write_floor_mod(const Site& s) {
  if (!is_float(s.dtype(0))) return write_remainder(s, false);
  const std::string zero = s.to.scalar(s.dtype(0), 0), r = write_remainder(s, true);
  const auto below = [&](const std::string& x) { return s.to.node("Less", {x, zero}); };
  const std::string apart = s.to.node("Xor", {below(r), below(s.operands[1])});
  const std::string off = s.to.node("And", {apart, s.to.node("Not", {s.to.node("Equal", {r, zero})})});
  return s.to.node("Where", {off, s.to.node("Add", {r, s.operands[1]}), r});
}

std::string write_negated(const Site& s) {
  if (types_of("Neg")->variable & bit(s.dtype(0))) return s.to.node("Neg", s.operands);
  return s.to.node("Sub", {s.to.scalar(s.dtype(0), 0), s.operands[0]});
}

// Runtimes compute ONNX's integer Pow in floats. Repeated squaring wraps as the language
// requires.
std::string write_power(const Site& s) {
  if (is_float(s.dtype(0))) return s.to.node("Pow", s.operands);
  const Tensor* exponents = s.constant(1);
  const auto all = exponents == nullptr ? std::vector<std::int64_t>() : exponents->integers();
  if (all.empty() || std::ranges::any_of(all, [&](std::int64_t e) { return e != all[0] || e < 0; }))
    throw Refused{
        "`pow` of integers has no counterpart in ONNX, but for one exponent that is constant and not negative"};
  std::string square = s.operands[0], product;
  if (s.shape(0) != s.value.shape) square = s.to.node("Expand", {square, s.to.integers(s.value.shape)});
  const std::string ones = s.to.constant(Tensor::number(s.dtype(0), 1));
  if (all[0] == 0) return s.to.node("Expand", {ones, s.to.integers(s.value.shape)});
  for (std::uint64_t e = static_cast<std::uint64_t>(all[0]); e > 0; e >>= 1) {
    if (e & 1) product = product.empty() ? square : s.to.node("Mul", {product, square});
    if (e > 1) square = s.to.node("Mul", {square, square});
  }
  return product;
}

DType as_unsigned(DType d) {
  constexpr std::array unsigned_ones = {DType::u8, DType::u16, DType::u32, DType::u64};
  return *std::ranges::find(unsigned_ones, byte_size(d), [](DType u) { return byte_size(u); });
}

// BitShift takes unsigned integers only, and shifts by fewer bits than they have.
std::string write_shift(const Site& s, const char* direction) {
  const DType type = s.dtype(0), bits = as_unsigned(type);
  const auto to_bits = [&](const std::string& x) { return s.to.cast(x, bits); };
  const std::string by = to_bits(s.operands[1]), zero = s.to.scalar(bits, 0);
  const std::string fits = s.to.node("Less", {by, s.to.scalar(bits, static_cast<double>(byte_size(type) * 8))});
  const auto shifted = [&](const std::string& x) {
    const std::string y = s.to.node("BitShift", {to_bits(x), s.to.node("Where", {fits, by, zero})},
                                    {{"direction", std::string(direction)}});
    return s.to.cast(s.to.node("Where", {fits, y, zero}), type);
  };
  if (!is_signed(type) || std::string_view(direction) == "LEFT") return shifted(s.operands[0]);
  // The sign is preserved by shifting the complement, -1 - x, of a negative number.
  const std::string below = s.to.node("Less", {s.operands[0], s.to.scalar(type, 0)});
  const auto complement = [&](const std::string& x) { return s.to.node("Sub", {s.to.scalar(type, -1), x}); };
  const std::string y = shifted(s.to.node("Where", {below, complement(s.operands[0]), s.operands[0]}));
  return s.to.node("Where", {below, complement(y), y});
}

// ---- conversions

// A float out of range becomes the nearest end of the integer range; NaN becomes 0.
std::string write_saturated(const Site& s, DType to) {
  const std::string x = byte_size(s.dtype(0)) < 4 ? s.to.cast(s.operands[0], DType::f32) : s.operands[0];
  const DType from = s.to.type_of(x);
  // A type that holds the range of the result and that runtimes accept in Where.
  const DType held = to == DType::u64 ? to : byte_size(to) > 4 || to == DType::u32 ? DType::i64 : DType::i32;
  const double above = std::ldexp(1.0, static_cast<int>(byte_size(to)) * 8 - (is_signed(to) ? 1 : 0));
  const std::string least = s.to.scalar(from, is_signed(to) ? -above : 0), end = s.to.scalar(from, above);
  const std::string inside = s.to.node("And", {s.to.node("GreaterOrEqual", {x, least}), s.to.node("Less", {x, end})});
  std::string y = s.to.cast(s.to.node("Where", {inside, x, s.to.scalar(from, 0)}), held);
  const auto limit = [&](bool greatest) { return s.to.cast(write_filled(s, to, greatest), held); };
  y = s.to.node("Where", {s.to.node("GreaterOrEqual", {x, end}), limit(true), y});
  if (is_signed(to)) y = s.to.node("Where", {s.to.node("Less", {x, least}), limit(false), y});
  return s.to.cast(y, to);
}

std::string write_converted(const Site& s) {
  const DType to = s.value.dtype;
  const std::string y = is_float(s.dtype(0)) && is_integer(to) ? write_saturated(s, to) : s.to.cast(s.operands[0], to);
  return s.shape(0) == s.value.shape ? y : s.to.node("Expand", {y, s.to.integers(s.value.shape)});
}

std::string write_clip(const Site& s) {
  return s.to.node("Min", {s.to.node("Max", {s.operands[0], s.operands[1]}), s.operands[2]});
}

// Writes relu. An unsigned integer is its own relu.
std::string write_relu(const Site& s) {
  return is_integer(s.dtype(0)) && !is_signed(s.dtype(0)) ? s.operands[0] : s.to.node("Relu", s.operands);
}

// The operators that are one node of ONNX, with its type.
constexpr std::pair<const char*, const char*> single_nodes[] = {
    {"add", "Add"},
    {"sub", "Sub"},
    {"mul", "Mul"},
    {"minimum", "Min"},
    {"maximum", "Max"},
    {"eq", "Equal"},
    {"lt", "Less"},
    {"le", "LessOrEqual"},
    {"gt", "Greater"},
    {"ge", "GreaterOrEqual"},
    {"logical_and", "And"},
    {"logical_or", "Or"},
    {"logical_not", "Not"},
    {"logical_xor", "Xor"},
    {"abs", "Abs"},
    {"sign", "Sign"},
    {"floor", "Floor"},
    {"ceil", "Ceil"},
    {"round", "Round"},
    {"exp", "Exp"},
    {"log", "Log"},
    {"sqrt", "Sqrt"},
    {"reciprocal", "Reciprocal"},
    {"sin", "Sin"},
    {"cos", "Cos"},
    {"tan", "Tan"},
    {"asin", "Asin"},
    {"acos", "Acos"},
    {"atan", "Atan"},
    {"sinh", "Sinh"},
    {"cosh", "Cosh"},
    {"tanh", "Tanh"},
    {"asinh", "Asinh"},
    {"acosh", "Acosh"},
    {"atanh", "Atanh"},
    {"sigmoid", "Sigmoid"},
    {"softplus", "Softplus"},
    {"erf", "Erf"},
    {"isnan", "IsNaN"},
    {"isinf", "IsInf"},
    {"select", "Where"},
};

}  // namespace

Writer same_node(const char* op, std::vector<Given> attributes) {
  return [op, attributes = std::move(attributes)](const Site& s) { return s.to.node(op, s.operands, attributes); };
}

const Writers& element_writers() {
  static const Writers all = [] {
    Writers writers = {
        {"div", write_quotient},
        {"mod", [](const Site& s) { return write_remainder(s, true); }},
        {"negate", write_negated},
        {"pow", write_power},
        {"ne", [](const Site& s) { return s.to.node("Not", {s.to.node("Equal", s.operands)}); }},
        {"trunc",
         [](const Site& s) {
           return s.to.node("Mul", {s.to.node("Sign", s.operands), s.to.node("Floor", {s.to.node("Abs", s.operands)})});
         }},
        {"log1p", write_log1p},
        {"expm1", write_expm1},
        {"log2", write_scaled_log(1.4426950408889634)},
        {"log10", write_scaled_log(0.4342944819032518)},
        {"exp2", [](const Site& s) { return s.to.node("Pow", {s.to.scalar(s.dtype(0), 2), s.operands[0]}); }},
        {"rsqrt", [](const Site& s) { return s.to.node("Reciprocal", {s.to.node("Sqrt", s.operands)}); }},
        {"square", [](const Site& s) { return s.to.node("Mul", {s.operands[0], s.operands[0]}); }},
        {"relu", write_relu},
        {"isfinite",
         [](const Site& s) {
           return s.to.node("Not", {s.to.node("Or", {s.to.node("IsInf", s.operands), s.to.node("IsNaN", s.operands)})});
         }},
        {"cast", write_converted},
        {"cast_like", write_converted},
        {"floor_mod", write_floor_mod},
        {"clip", write_clip},
        {"left_shift", [](const Site& s) { return write_shift(s, "LEFT"); }},
        {"right_shift", [](const Site& s) { return write_shift(s, "RIGHT"); }},
    };
    for (const auto& [op, node] : single_nodes) writers.emplace(op, same_node(node));
    return writers;
  }();
  return all;
}

}  // namespace rml::onnx
