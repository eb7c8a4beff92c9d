// All ports share one zeroed allocation. Sizes are added with overflow checks, because the table
// of ports comes from another program.
#include "runtime/stream_io/row.h"

#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace rml::rt {
namespace {

constexpr std::uint64_t alignment = 64;

std::uint64_t block_bytes(const rml_port& port) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(port.elements, dtype_bytes(port.dtype), &bytes) ||
      __builtin_add_overflow(bytes, alignment, &bytes)) {
    throw std::bad_alloc();
  }
  return bytes / alignment * alignment;
}

}  // namespace

std::string_view dtype_name(std::uint8_t dtype) {
  switch (dtype) {
    case RML_BOOL:
      return "bool";
    case RML_I8:
      return "i8";
    case RML_U8:
      return "u8";
    case RML_I16:
      return "i16";
    case RML_I32:
      return "i32";
    case RML_I64:
      return "i64";
    case RML_F16:
      return "f16";
    case RML_BF16:
      return "bf16";
    case RML_F32:
      return "f32";
    case RML_F64:
      return "f64";
    case RML_U16:
      return "u16";
    case RML_U32:
      return "u32";
    case RML_U64:
      return "u64";
    default:
      return "?";
  }
}

std::uint64_t dtype_bytes(std::uint8_t dtype) {
  switch (dtype) {
    case RML_BOOL:
    case RML_I8:
    case RML_U8:
      return 1;
    case RML_I16:
    case RML_U16:
    case RML_F16:
    case RML_BF16:
      return 2;
    case RML_I32:
    case RML_U32:
    case RML_F32:
      return 4;
    default:
      return 8;
  }
}

std::string type_text(const rml_port& port) {
  std::string text(dtype_name(port.dtype));
  for (std::uint32_t axis = 0; axis < port.rank; ++axis) {
    text += axis == 0 ? "[" : ",";
    text += std::to_string(port.dims[axis]);
  }
  if (port.rank > 0) text += "]";
  return text;
}

std::string element_name(const rml_port& port, std::uint64_t element) {
  if (port.rank == 0) return port.name;
  std::string indices;
  for (std::uint32_t axis = port.rank; axis-- > 0;) {
    const std::uint64_t dim = port.dims[axis];
    indices.insert(0, (axis > 0 ? "," : "") + std::to_string(element % dim));
    element /= dim;
  }
  return std::string(port.name) + "[" + indices + "]";
}

void Row::Free::operator()(void* block) const { std::free(block); }

std::uint32_t Row::checksum(std::uint32_t before, std::uint32_t ports) const {
  uLong sum = crc32_z(before, flags_, ports);
  for (std::uint32_t i = 0; i < ports; ++i) {
    if (!is_present(i)) continue;
    sum = crc32_z(sum, static_cast<const Bytef*>(pointers_[i]), ports_[i].elements * dtype_bytes(ports_[i].dtype));
  }
  return static_cast<std::uint32_t>(sum);
}

Row::Row(const rml_port* ports, std::uint32_t count)
    : ports_(ports), count_(count), pointers_(count), present_(count, 0), flags_(present_.data()) {
  std::uint64_t total = alignment;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (__builtin_add_overflow(total, block_bytes(ports[i]), &total)) throw std::bad_alloc();
  }
  block_.reset(std::aligned_alloc(alignment, total));
  if (!block_) throw std::bad_alloc();
  std::memset(block_.get(), 0, total);
  char* next = static_cast<char*>(block_.get());
  for (std::uint32_t i = 0; i < count; ++i) {
    pointers_[i] = next;
    if (ports[i].always != 0) always_.push_back(i);
    next += block_bytes(ports[i]);
  }
}

Row Row::showing(const Row& other, std::uint32_t count) {
  Row row;
  row.ports_ = other.ports_;
  row.count_ = count;
  row.pointers_.assign(other.pointers_.begin(), other.pointers_.begin() + count);
  row.flags_ = other.flags_;
  return row;
}

}  // namespace rml::rt
