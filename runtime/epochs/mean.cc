// The sum is compensated, so that the mean of many rows does not depend on their order in more than
// the last bit.
#include "runtime/epochs/mean.h"

#include <cmath>
#include <cstring>

#include "runtime/kernels/half_float.h"

namespace rml::rt {
namespace {

template <class T>
double as(const char* at) {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

double element(std::uint8_t dtype, const char* at) {
  switch (dtype) {
    case RML_BOOL:
    case RML_U8:
      return as<std::uint8_t>(at);
    case RML_I8:
      return as<std::int8_t>(at);
    case RML_I16:
      return as<std::int16_t>(at);
    case RML_U16:
      return as<std::uint16_t>(at);
    case RML_I32:
      return as<std::int32_t>(at);
    case RML_U32:
      return as<std::uint32_t>(at);
    case RML_I64:
      return as<std::int64_t>(at);
    case RML_U64:
      return as<std::uint64_t>(at);
    case RML_F32:
      return as<float>(at);
    case RML_F64:
      return as<double>(at);
    default:
      break;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return dtype == RML_F16 ? float_from_f16(bits) : float_from_bf16(bits);
}

}  // namespace

void Mean::add(const Row& row, std::uint32_t port) {
  if (row.port(port).always == 0 && !row.is_present(port)) return;
  const std::uint8_t dtype = row.port(port).dtype;
  for (std::uint64_t k = 0; k < row.port(port).elements; ++k)
    add(element(dtype, static_cast<const char*>(row.element(port, k))));
}

void Mean::add(double value) {
  const double sum = sum_ + value;
  // If the sum is not finite, the error is not a number, and would hide it.
  if (std::isfinite(sum)) rest_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
  ++count_;
}

}  // namespace rml::rt
