// When there are too many buckets, each pair of neighbours is joined and the bucket size doubles.
#include "runtime/monitor/series.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/kernels/half_float.h"

namespace rml::rt {
namespace {

template <class T>
T load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

constexpr std::size_t numbers_per_bucket = 6;

}  // namespace

std::vector<std::uint32_t> monitored_ports(const Options& options, const Row& outputs, const char* option) {
  if (!options.monitored.empty()) return options.monitored;
  std::vector<std::uint32_t> ports;
  for (std::uint32_t i = 0; i < std::min(outputs.size(), options.own_outputs); ++i)
    if (outputs.port(i).rank == 0 && outputs.port(i).dtype != RML_BOOL) ports.push_back(i);
  if (ports.empty())
    throw Failure(std::string(option) + ": no output is a scalar, so nothing can be shown", exit_usage);
  return ports;
}

double scalar_value(const Row& outputs, std::uint32_t port, std::uint64_t element) {
  const void* at = outputs.element(port, element);
  switch (outputs.port(port).dtype) {
    case RML_BOOL:
    case RML_U8:
      return load<std::uint8_t>(at);
    case RML_I8:
      return load<std::int8_t>(at);
    case RML_I16:
      return load<std::int16_t>(at);
    case RML_I32:
      return load<std::int32_t>(at);
    case RML_I64:
      return static_cast<double>(load<std::int64_t>(at));
    case RML_U16:
      return load<std::uint16_t>(at);
    case RML_U32:
      return load<std::uint32_t>(at);
    case RML_U64:
      return static_cast<double>(load<std::uint64_t>(at));
    case RML_F16:
      return float_from_f16(load<std::uint16_t>(at));
    case RML_BF16:
      return float_from_bf16(load<std::uint16_t>(at));
    case RML_F32:
      return load<float>(at);
    default:
      return load<double>(at);
  }
}

void Series::add(std::int64_t cycle, double value) {
  if (!std::isfinite(value)) {
    ++not_finite_;
    return;
  }
  const auto at = static_cast<double>(cycle);
  if (!buckets_.empty() && buckets_.back().count < bucket_size_) {
    Bucket& b = buckets_.back();
    b.last = at;
    b.count += 1;
    b.sum += value;
    b.least = std::min(b.least, value);
    b.most = std::max(b.most, value);
    return;
  }
  if (buckets_.size() == most_buckets) {
    for (std::size_t k = 0; k < most_buckets / 2; ++k) {
      const Bucket &a = buckets_[2 * k], &b = buckets_[2 * k + 1];
      buckets_[k] = {
          a.first, b.last, a.count + b.count, a.sum + b.sum, std::min(a.least, b.least), std::max(a.most, b.most)};
    }
    buckets_.resize(most_buckets / 2);
    bucket_size_ *= 2;
  }
  buckets_.push_back({at, at, 1, value, value, value});
}

std::vector<double> Series::numbers() const {
  std::vector<double> all{bucket_size_, static_cast<double>(not_finite_)};
  for (const Bucket& b : buckets_) all.insert(all.end(), {b.first, b.last, b.count, b.sum, b.least, b.most});
  return all;
}

bool Series::restore(const std::vector<double>& numbers) {
  if (numbers.size() < 2 || (numbers.size() - 2) % numbers_per_bucket != 0) return false;
  bucket_size_ = numbers[0];
  not_finite_ = static_cast<std::uint64_t>(numbers[1]);
  buckets_.clear();
  for (std::size_t k = 2; k < numbers.size(); k += numbers_per_bucket) {
    const double* b = numbers.data() + k;
    buckets_.push_back({b[0], b[1], b[2], b[3], b[4], b[5]});
  }
  return buckets_.size() <= most_buckets;
}

}  // namespace rml::rt
