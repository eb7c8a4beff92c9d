// Converts numbers to scalars, and checks that they fit.
#include "semantics/instantiate/literals.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace rml::draft {

namespace {

struct IntegerRange {
  std::uint64_t below_zero, above_zero;
};
IntegerRange integer_range(DType dtype) {
  if (!is_signed(dtype)) return {0, UINT64_MAX >> (64 - 8 * byte_size(dtype))};
  const std::uint64_t half = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
  return {half, half - 1};
}

}  // namespace

Literal boolean_literal(DType dtype, bool v) {
  Literal made{std::make_shared<const Tensor>(Tensor::boolean(v)), Code::E0902, {}, {}};
  if (dtype != DType::boolean) made.problem = "a Boolean is not a value of type " + std::string(name(dtype));
  return made;
}

Literal integer_literal(DType dtype, std::uint64_t magnitude, bool negative) {
  if (is_float(dtype)) {
    const auto v = static_cast<double>(magnitude);
    return float_literal(dtype, negative ? -v : v);
  }
  if (!is_integer(dtype)) return {nullptr, Code::E0902, "a number is not a value of type bool", {}};
  Literal made;
  const IntegerRange range = integer_range(dtype);
  if (magnitude > (negative ? range.below_zero : range.above_zero)) {
    const std::string type(name(dtype));
    made.problem = "`" + std::string(negative ? "-" : "") + std::to_string(magnitude) + "` does not fit " + type;
    made.label = type + " holds " + (range.below_zero > 0 ? "-" + std::to_string(range.below_zero) : std::string("0")) +
                 " to " + std::to_string(range.above_zero);
  }
  const std::uint64_t bits = negative ? std::uint64_t{0} - magnitude : magnitude;
  Tensor t(dtype, {});
  std::memcpy(t.data(), &bits, t.bytes());  // little-endian, two's complement
  made.value = std::make_shared<const Tensor>(std::move(t));
  return made;
}

Literal float_literal(DType dtype, double v) {
  if (!is_float(dtype)) return {nullptr, Code::E0902, "a float is not a value of type " + std::string(name(dtype)), {}};
  Literal made{std::make_shared<const Tensor>(Tensor::number(dtype, v)), Code::E0307, {}, {}};
  if (std::isinf(rounded(dtype, v)) && !std::isinf(v)) {
    made.problem = "this number does not fit " + std::string(name(dtype));
    made.label = "it would be infinite";
  }
  return made;
}

std::optional<Tensor> uniform_element(const OperatorInfo& row, DType dtype, const Shape& shape) {
  constexpr std::string_view rows[] = {"zeros", "ones", "zeros_like", "ones_like"};
  if (*element_count(shape) <= max_constant_elements || std::ranges::find(rows, row.name) == std::end(rows))
    return std::nullopt;
  Tensor one(dtype, {});
  row.evaluate({}, {}, {}, one);
  return one;
}

Attribute default_attribute(std::string_view text, ParameterKind kind) {
  Attribute a;
  if (text == "all") return a;
  a.given = true;
  if (kind == ParameterKind::text) {
    a.text = text;
  } else if (kind == ParameterKind::dtype) {
    a.dtype = dtype_named(text).value_or(DType::f32);
  } else if (kind == ParameterKind::number) {
    std::from_chars(text.data(), text.data() + text.size(), a.number);
  } else {
    a.scalar = text.empty() || text[0] != '[';
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::int64_t extent = 0;
      const auto parsed = std::from_chars(text.data() + i, text.data() + text.size(), extent);
      if (parsed.ec != std::errc{}) continue;
      a.integers.push_back(extent);
      i = static_cast<std::size_t>(parsed.ptr - text.data());
    }
  }
  return a;
}

}  // namespace rml::draft
