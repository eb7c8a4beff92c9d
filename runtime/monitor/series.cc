// The samples of a bucket are a reservoir sample: each value is kept with the same probability. The
// choice depends on the cycle alone, so a resumed run keeps the same values as an uninterrupted
// one.
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

// The form of saved series. Series without such a number were saved by earlier versions; their
// first number is positive.
constexpr double saved_form = -2;
constexpr std::size_t numbers_per_bucket = 10 + Bucket::most_samples, old_numbers_per_bucket = 6;

// SplitMix64, a hash with good low bits.
std::uint64_t hashed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Bucket first_of(double cycle, double value) {
  return {cycle, cycle, 1, value, value, value, cycle, cycle, value, value, {value}};
}

void add_to(Bucket& b, double cycle, double value) {
  if (b.count == 0) {
    b = first_of(cycle, value);
    return;
  }
  if (value < b.least) b.least = value, b.at_least = cycle;
  if (value > b.most) b.most = value, b.at_most = cycle;
  b.last = cycle;
  b.closing = value;
  b.sum += value;
  const auto before = static_cast<std::uint64_t>(b.count);
  const std::uint64_t slot =
      before < Bucket::most_samples ? before : hashed(static_cast<std::uint64_t>(cycle)) % (before + 1);
  if (slot < Bucket::most_samples) b.samples[slot] = value;
  b.count += 1;
}

// Takes samples of both buckets in proportion to their numbers of values.
void join_samples(Bucket& joined, const Bucket& a, const Bucket& b) {
  std::size_t of_a = 0, of_b = 0;
  const double share = a.count / (a.count + b.count);
  for (std::size_t k = 0; k < joined.sampled(); ++k) {
    const double random = static_cast<double>(hashed(static_cast<std::uint64_t>(a.first) + (k << 48)) >> 11) * 0x1p-53;
    const bool from_a = of_b == b.sampled() || (of_a < a.sampled() && random < share);
    joined.samples[k] = from_a ? a.samples[of_a++] : b.samples[of_b++];
  }
}

Bucket joined(const Bucket& a, const Bucket& b) {
  if (a.count == 0 && b.count == 0) return {a.first, b.last};
  if (a.count == 0 || b.count == 0) return a.count == 0 ? b : a;
  Bucket both{a.first, b.last, a.count + b.count, a.sum + b.sum, std::min(a.least, b.least), std::max(a.most, b.most)};
  both.at_least = b.least < a.least ? b.at_least : a.at_least;
  both.at_most = b.most > a.most ? b.at_most : a.at_most;
  both.opening = a.opening;
  both.closing = b.closing;
  join_samples(both, a, b);
  return both;
}

bool are_cycles(double first, double last) { return first >= 0 && first <= last && last < 0x1p53; }

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

void Excerpts::add(double value) {
  const std::uint64_t run = seen_ / length, position = seen_ % length;
  ++seen_;
  if (run % stride_ != 0) return;
  if (position == 0) {
    if (all_.size() == most) {
      for (std::size_t k = 1; k < most / 2; ++k) all_[k] = std::move(all_[2 * k]);
      all_.resize(most / 2);
      stride_ *= 2;
    }
    all_.emplace_back().reserve(length);
  }
  all_.back().push_back(value);
}

void Excerpts::write(std::vector<double>& numbers) const {
  numbers.insert(numbers.end(), {static_cast<double>(seen_), static_cast<double>(stride_)});
  for (const std::vector<double>& excerpt : all_) numbers.insert(numbers.end(), excerpt.begin(), excerpt.end());
}

bool Excerpts::read(const std::vector<double>& numbers, std::size_t at) {
  if (numbers.size() < at + 2 || numbers.size() > at + 2 + most * length) return false;
  if (!(numbers[at] >= 0 && numbers[at] < 0x1p53 && numbers[at + 1] >= 1 && numbers[at + 1] < 0x1p53)) return false;
  seen_ = static_cast<std::uint64_t>(numbers[at]);
  stride_ = static_cast<std::uint64_t>(numbers[at + 1]);
  all_.clear();
  for (std::size_t k = at + 2; k < numbers.size(); ++k) {
    if ((k - at - 2) % length == 0) all_.emplace_back().reserve(length);
    all_.back().push_back(numbers[k]);
  }
  // Values that are not in the middle of an excerpt begin a new one.
  const bool within = seen_ % length != 0 && (seen_ / length) % stride_ == 0;
  return !within || (!all_.empty() && all_.back().size() == seen_ % length);
}

std::int64_t Series::place(double cycle) const { return static_cast<std::int64_t>(cycle / span_); }

void Series::join_neighbours() {
  span_ *= 2;
  std::vector<Bucket> wider;
  for (const Bucket& b : buckets_) {
    if (!wider.empty() && place(wider.back().first) == place(b.first))
      wider.back() = joined(wider.back(), b);
    else
      wider.push_back(b);
  }
  buckets_ = std::move(wider);
}

// The bucket of a cycle, which may be new and empty.
Bucket& Series::bucket_at(double cycle) {
  const auto is_new = [&] { return buckets_.empty() || place(buckets_.back().first) != place(cycle); };
  while (is_new() && buckets_.size() >= most_buckets) join_neighbours();
  if (is_new()) buckets_.push_back({cycle, cycle});
  return buckets_.back();
}

void Series::add(std::int64_t cycle, double value) {
  const auto at = static_cast<double>(cycle);
  Bucket& bucket = bucket_at(at);
  if (std::isfinite(value)) {
    add_to(bucket, at, value);
    excerpts_.add(value);
    return;
  }
  ++not_finite_;
  if (bucket.count == 0) bucket.last = at;
}

bool Series::any() const {
  return std::any_of(buckets_.begin(), buckets_.end(), [](const Bucket& b) { return b.count > 0; });
}

double Series::closing() const {
  const auto last = std::find_if(buckets_.rbegin(), buckets_.rend(), [](const Bucket& b) { return b.count > 0; });
  return last == buckets_.rend() ? std::nan("") : last->closing;
}

std::vector<double> Series::numbers() const {
  std::vector<double> all{saved_form, span_, static_cast<double>(not_finite_), static_cast<double>(buckets_.size())};
  for (const Bucket& b : buckets_) {
    all.insert(all.end(),
               {b.first, b.last, b.count, b.sum, b.least, b.most, b.at_least, b.at_most, b.opening, b.closing});
    all.insert(all.end(), b.samples.begin(), b.samples.end());
  }
  excerpts_.write(all);
  return all;
}

bool Series::restore(const std::vector<double>& numbers) {
  if (!numbers.empty() && numbers[0] > 0) return restore_old(numbers);
  constexpr std::size_t head = 4;
  if (numbers.size() < head || numbers[0] != saved_form || !(numbers[1] >= 1)) return false;
  if (!(numbers[2] >= 0 && numbers[2] < 0x1p53 && numbers[3] >= 0 && numbers[3] <= most_buckets)) return false;
  const std::size_t end = head + static_cast<std::size_t>(numbers[3]) * numbers_per_bucket;
  if (!excerpts_.read(numbers, end)) return false;
  span_ = numbers[1];
  not_finite_ = static_cast<std::uint64_t>(numbers[2]);
  buckets_.clear();
  for (std::size_t k = head; k < end; k += numbers_per_bucket) {
    const double* b = numbers.data() + k;
    if (!(b[2] >= 0) || !are_cycles(b[0], b[1])) return false;
    Bucket& bucket = buckets_.emplace_back(Bucket{b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9]});
    std::copy_n(b + 10, Bucket::most_samples, bucket.samples.begin());
  }
  return true;
}

// Earlier versions kept means and extremes only. The samples are then the extremes and the mean.
bool Series::restore_old(const std::vector<double>& numbers) {
  if (numbers.size() < 2 || (numbers.size() - 2) % old_numbers_per_bucket != 0) return false;
  if (!(numbers[1] >= 0 && numbers[1] < 0x1p53)) return false;
  not_finite_ = static_cast<std::uint64_t>(numbers[1]);
  buckets_.clear();
  for (std::size_t k = 2; k < numbers.size(); k += old_numbers_per_bucket) {
    const double* b = numbers.data() + k;
    if (!(b[2] >= 1) || !are_cycles(b[0], b[1])) return false;
    Bucket bucket{b[0], b[1], b[2], b[3], b[4], b[5]};
    bucket.at_least = bucket.at_most = bucket.middle();
    bucket.opening = bucket.closing = bucket.mean();
    bucket.samples.fill(bucket.mean());
    bucket.samples[0] = bucket.least;
    if (bucket.count > 1) bucket.samples[1] = bucket.most;
    buckets_.push_back(bucket);
    while (place(bucket.last) - place(bucket.first) > 1) join_neighbours();
  }
  while (buckets_.size() > most_buckets) join_neighbours();
  return true;
}

}  // namespace rml::rt
