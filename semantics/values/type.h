// Element types, shapes and constant tensors.
//
// A stream carries tensors of one dtype and one static shape (rank 0: scalar). Tensor is the
// value domain of constants, of constant folding and of the reference engine: dense, row-major,
// owning its elements. Booleans are one byte, 0 or 1.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rml {

// The types of elements, numbered as in rmlrt.h.
enum class DType : std::uint8_t { boolean, i8, u8, i16, i32, i64, f16, bf16, f32, f64, u16, u32, u64 };
inline constexpr int dtype_count = 13;

std::size_t byte_size(DType);
std::string_view name(DType);                        // "bool", "i8", …
std::optional<DType> dtype_named(std::string_view);  // finds a dtype by its name; "int" and "float" are names too
bool is_float(DType);
bool is_integer(DType);
bool is_signed(DType);     // a signed integer
bool has_gradient(DType);  // true for f32 and f64, the dtypes for computation with gradients

// A set of dtypes as a bit mask: the dtypes that a type variable may still become.
using DTypeSet = std::uint16_t;
constexpr DTypeSet bit(DType d) { return static_cast<DTypeSet>(1u << static_cast<unsigned>(d)); }
namespace dtypes {
inline constexpr DTypeSet boolean = bit(DType::boolean);
inline constexpr DTypeSet integer = bit(DType::i8) | bit(DType::i16) | bit(DType::i32) | bit(DType::i64) |
                                    bit(DType::u8) | bit(DType::u16) | bit(DType::u32) | bit(DType::u64);
// Integers that fit into an i64: indices, extents.
inline constexpr DTypeSet index = integer & ~bit(DType::u64);
inline constexpr DTypeSet floating = bit(DType::f16) | bit(DType::bf16) | bit(DType::f32) | bit(DType::f64);
inline constexpr DTypeSet numeric = integer | floating;
inline constexpr DTypeSet any = boolean | numeric;
}  // namespace dtypes

using Shape = std::vector<std::int64_t>;  // extents of the axes, each at least 0

inline constexpr std::size_t max_rank = 8;
// Limit on the product of the extents, beyond which element_count returns nothing. The default
// limit for a program is lower (limits.h).
inline constexpr std::int64_t max_elements = std::int64_t{1} << 32;
// Limit on the elements of a constant that is stored in the program.
inline constexpr std::int64_t max_constant_elements = std::int64_t{1} << 28;
std::optional<std::int64_t> element_count(const Shape&);
// The nearest number of a float type; infinite beyond its range.
double rounded(DType, double);
std::string to_string(const Shape&);           // "[4, 3]", "[]" for scalars
std::string type_string(DType, const Shape&);  // "f32[4, 3]", "f32"
// The common shape by NumPy's rule; nothing if the shapes do not match.
std::optional<Shape> broadcast(const Shape&, const Shape&);

class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);  // creates a tensor of zeros
  Tensor(const Tensor&);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor& other) { return *this = Tensor(other); }
  Tensor& operator=(Tensor&&) noexcept = default;
  ~Tensor() = default;
  template <class T>
  static Tensor scalar(DType dtype, T value) {
    Tensor t(dtype, {});
    std::memcpy(t.data(), &value, sizeof value);
    return t;
  }
  static Tensor boolean(bool value) { return scalar<std::uint8_t>(DType::boolean, value ? 1 : 0); }

  // For floats, the value rounded to the dtype; for integers, it must be a whole number that
  // fits.
  static Tensor number(DType dtype, double value);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  std::size_t bytes() const { return bytes_ ? bytes_->size() : 0; }
  void* data() { return own().data(); }
  const void* data() const { return bytes_ ? bytes_->data() : nullptr; }
  template <class T>
  T* as() {
    return static_cast<T*>(data());
  }
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data());
  }
  // Bit equality of type, shape and elements (so -0.0 differs from 0.0 and NaN equals itself).
  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ &&
           (a.bytes_ == b.bytes_ || (a.bytes_ && b.bytes_ && *a.bytes_ == *b.bytes_));
  }

  // From now on copies share the elements (copy on write): a writer first makes its own copy.
  // Earlier pointers to the elements must no longer be used for writing.
  Tensor& freeze() {
    frozen_ = true;
    return *this;
  }

  // Elements as integers, for attributes such as shapes and axes; only for integers and Booleans.
  // Values of u64 wrap.
  std::vector<std::int64_t> integers() const;
  bool truth() const { return (*bytes_)[0] != std::byte{0}; }  // the value of a Boolean scalar

 private:
  using Bytes = std::vector<std::byte>;
  Bytes& own();

  DType dtype_ = DType::boolean;
  Shape shape_;
  std::int64_t elements_ = 0;
  std::shared_ptr<Bytes> bytes_;  // null in a default-constructed tensor
  bool frozen_ = false;
};

// The text of a chronogram: 1, -2.5, T, [1,2;3,4], [[1,2],[3,4]] for the shape [2, 1, 2], []
// without elements; shortest digits that read back to the same bits.
std::string to_string(const Tensor&);
// The punctuation of that text: the pairs of brackets around it, and the separator before element
// i > 0 of a tensor of rank > 0.
std::size_t bracket_pairs(const Shape&);
std::string separator(const Shape&, std::int64_t i);

}  // namespace rml
