// Dtypes, shapes and tensors: names, sizes, NumPy's broadcasting rule, and printing.
//
// Floats print as the shortest text that reads back to the same bits, as by std::to_chars and the
// runtime's writers: 3.0 is 3, and 100000.0 is 1e+05. Rows of a matrix are separated by `;`; each
// further axis adds one pair of brackets: a [2, 2, 2] tensor is [[1,2;3,4],[5,6;7,8]]. A tensor
// without elements is [].
#include "semantics/values/type.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "runtime/kernels/half_float.h"

namespace rml {

namespace {

struct DTypeRow {
  std::string_view name;
  std::size_t bytes;
};

constexpr DTypeRow dtype_rows[dtype_count] = {
    {"bool", 1}, {"i8", 1},  {"u8", 1},  {"i16", 2}, {"i32", 4}, {"i64", 8}, {"f16", 2},
    {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"u16", 2}, {"u32", 4}, {"u64", 8},
};

template <class T>
std::string float_text(T value) {
  if (std::isnan(value)) return "nan";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end.ptr);
}

template <class T>
T load(const Tensor& tensor, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(tensor.data()) + static_cast<std::size_t>(i) * sizeof(T),
              sizeof(T));
  return value;
}

std::string element_text(const Tensor& tensor, std::int64_t i) {
  switch (tensor.dtype()) {
    case DType::boolean:
      return load<std::uint8_t>(tensor, i) != 0 ? "T" : "F";
    case DType::i8:
      return std::to_string(load<std::int8_t>(tensor, i));
    case DType::u8:
      return std::to_string(load<std::uint8_t>(tensor, i));
    case DType::i16:
      return std::to_string(load<std::int16_t>(tensor, i));
    case DType::i32:
      return std::to_string(load<std::int32_t>(tensor, i));
    case DType::i64:
      return std::to_string(load<std::int64_t>(tensor, i));
    case DType::u16:
      return std::to_string(load<std::uint16_t>(tensor, i));
    case DType::u32:
      return std::to_string(load<std::uint32_t>(tensor, i));
    case DType::u64:
      return std::to_string(load<std::uint64_t>(tensor, i));
    case DType::f16:
      return float_text(rt::float_from_f16(load<std::uint16_t>(tensor, i)));
    case DType::bf16:
      return float_text(rt::float_from_bf16(load<std::uint16_t>(tensor, i)));
    case DType::f32:
      return float_text(load<float>(tensor, i));
    case DType::f64:
      return float_text(load<double>(tensor, i));
  }
  return {};
}

}  // namespace

std::size_t byte_size(DType dtype) { return dtype_rows[static_cast<unsigned>(dtype)].bytes; }

std::string_view name(DType dtype) { return dtype_rows[static_cast<unsigned>(dtype)].name; }

std::optional<DType> dtype_named(std::string_view text) {
  if (text == "int") return DType::i32;
  if (text == "float") return DType::f32;
  for (int d = 0; d < dtype_count; ++d) {
    if (dtype_rows[d].name == text) return static_cast<DType>(d);
  }
  return std::nullopt;
}

double rounded(DType dtype, double value) {
  if (dtype == DType::f16) return static_cast<double>(rt::float_from_f16(rt::f16_from_double(value)));
  if (dtype == DType::bf16) return static_cast<double>(rt::float_from_bf16(rt::bf16_from_double(value)));
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
}

Tensor Tensor::number(DType dtype, double value) {
  if (dtype == DType::f16) return scalar(dtype, rt::f16_from_double(value));
  if (dtype == DType::bf16) return scalar(dtype, rt::bf16_from_double(value));
  if (dtype == DType::f32) return scalar(dtype, static_cast<float>(value));
  if (dtype == DType::f64) return scalar(dtype, value);
  Tensor t(dtype, {});
  const auto bits =
      value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value);
  std::memcpy(t.data(), &bits, t.bytes());  // little-endian, two's complement
  return t;
}

bool is_float(DType dtype) { return (bit(dtype) & dtypes::floating) != 0; }

bool has_gradient(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

bool is_integer(DType dtype) { return (bit(dtype) & dtypes::integer) != 0; }

bool is_signed(DType dtype) {
  return dtype == DType::i8 || dtype == DType::i16 || dtype == DType::i32 || dtype == DType::i64;
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  // Zero extents do not count in the product, so that strides remain in range too.
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (extent > max_elements / product) return std::nullopt;
    product *= extent;
  }
  return empty ? 0 : product;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

std::string type_string(DType dtype, const Shape& shape) {
  std::string text(name(dtype));
  return shape.empty() ? text : text + to_string(shape);
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t k = 1; k <= rank; ++k) {  // axes are aligned at the end
    const std::int64_t in_a = k <= a.size() ? a[a.size() - k] : 1;
    const std::int64_t in_b = k <= b.size() ? b[b.size() - k] : 1;
    if (in_a != in_b && in_a != 1 && in_b != 1) return std::nullopt;
    result[rank - k] = in_a == 1 ? in_b : in_a;
  }
  return result;
}

Tensor::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto count = element_count(shape_);
  if (!count) throw std::length_error("tensor of shape " + to_string(shape_));
  elements_ = *count;
  bytes_ = std::make_shared<Bytes>(static_cast<std::size_t>(elements_) * byte_size(dtype));
}

Tensor::Tensor(const Tensor& other)
    : dtype_(other.dtype_),
      shape_(other.shape_),
      elements_(other.elements_),
      bytes_(other.frozen_ || !other.bytes_ ? other.bytes_ : std::make_shared<Bytes>(*other.bytes_)),
      frozen_(other.frozen_) {}

Tensor::Bytes& Tensor::own() {
  if (!bytes_ || frozen_) bytes_ = bytes_ ? std::make_shared<Bytes>(*bytes_) : std::make_shared<Bytes>();
  frozen_ = false;
  return *bytes_;
}

std::vector<std::int64_t> Tensor::integers() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(elements_));
  for (std::int64_t i = 0; i < elements_; ++i) {
    std::int64_t& value = values[static_cast<std::size_t>(i)];
    switch (dtype_) {
      case DType::boolean:
      case DType::u8:
        value = load<std::uint8_t>(*this, i);
        break;
      case DType::i8:
        value = load<std::int8_t>(*this, i);
        break;
      case DType::i16:
        value = load<std::int16_t>(*this, i);
        break;
      case DType::i32:
        value = load<std::int32_t>(*this, i);
        break;
      case DType::i64:
      case DType::u64:
        value = load<std::int64_t>(*this, i);
        break;
      case DType::u16:
        value = load<std::uint16_t>(*this, i);
        break;
      case DType::u32:
        value = load<std::uint32_t>(*this, i);
        break;
      case DType::f16:
      case DType::bf16:
      case DType::f32:
      case DType::f64:
        throw std::logic_error("integers() of a float tensor");
    }
  }
  return values;
}

std::size_t bracket_pairs(const Shape& shape) { return shape.size() > 2 ? shape.size() - 1 : 1; }

std::string separator(const Shape& shape, std::int64_t i) {
  std::size_t begun = 0;  // number of trailing axes that begin again at element i
  for (std::int64_t block = shape.back(); begun + 1 < shape.size() && i % block == 0;) {
    ++begun;
    block *= shape[shape.size() - 1 - begun];
  }
  if (begun == 0) return ",";
  return begun == 1 ? ";" : std::string(begun - 1, ']') + "," + std::string(begun - 1, '[');
}

std::string to_string(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.empty()) return element_text(tensor, 0);
  if (tensor.elements() == 0) return "[]";
  std::string text(bracket_pairs(shape), '[');
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (i > 0) text += separator(shape, i);
    text += element_text(tensor, i);
  }
  return text.append(bracket_pairs(shape), ']');
}

}  // namespace rml
