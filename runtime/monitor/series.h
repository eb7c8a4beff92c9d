// Curves of scalar outputs over the cycles of a run, for --log and --plot.
//
// A Series keeps a bounded number of buckets. A bucket summarises the values of neighbouring
// cycles: their mean, extremes, first and last value, and a random sample of them. When there are
// too many buckets, each covers twice as many cycles. So a run of any length has a curve of its
// whole length that includes every outlier.
//
// Excerpts of consecutive values show whether a curve is noisy; the buckets of a long run no
// longer do.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/options/options.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

// The outputs named by --monitor, by default all scalar numbers. Throws Failure if there are
// none.
std::vector<std::uint32_t> monitored_ports(const Options& options, const Row& outputs, const char* option);
// The value as f64; a Boolean is 0 or 1.
double scalar_value(const Row& outputs, std::uint32_t port, std::uint64_t element = 0);

struct Bucket {
  static constexpr std::size_t most_samples = 8;

  double first = 0, last = 0;  // cycles of the first and the last value
  double count = 0;            // of finite values; 0: all values of these cycles are not finite
  double sum = 0, least = 0, most = 0;
  double at_least = 0, at_most = 0;            // cycles of the extremes
  double opening = 0, closing = 0;             // the first and the last value
  std::array<double, most_samples> samples{};  // values at random cycles

  double mean() const { return sum / count; }
  double middle() const { return (first + last) / 2; }
  std::size_t sampled() const { return count < most_samples ? static_cast<std::size_t>(count) : most_samples; }
};

// Runs of consecutive values, evenly spread over a sequence of any length.
class Excerpts {
 public:
  static constexpr std::size_t length = 64, most = 32;
  void add(double value);
  // The last excerpt may be shorter than `length`.
  const std::vector<std::vector<double>>& all() const { return all_; }
  void write(std::vector<double>& numbers) const;
  // Reads what write has written, from `at` on. Returns false if the numbers are not excerpts.
  bool read(const std::vector<double>& numbers, std::size_t at);

 private:
  std::vector<std::vector<double>> all_;
  std::uint64_t seen_ = 0;    // number of values
  std::uint64_t stride_ = 1;  // every stride-th run of values is kept
};

class Series {
 public:
  static constexpr std::size_t most_buckets = 1024;

  explicit Series(std::string name) : name_(std::move(name)) {}
  // Cycles must not decrease.
  void add(std::int64_t cycle, double value);

  const std::string& name() const { return name_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }
  const Excerpts& excerpts() const { return excerpts_; }
  std::uint64_t not_finite() const { return not_finite_; }
  // False if no value was finite.
  bool any() const;
  // The last finite value.
  double closing() const;

  // The series as numbers for a checkpoint, and back; restore returns false if the numbers are
  // not a series. It also reads series of earlier versions.
  std::vector<double> numbers() const;
  bool restore(const std::vector<double>& numbers);

 private:
  std::int64_t place(double cycle) const;
  Bucket& bucket_at(double cycle);
  void join_neighbours();
  bool restore_old(const std::vector<double>& numbers);

  std::string name_;
  std::vector<Bucket> buckets_;
  double span_ = 1;  // cycles per bucket, a power of two
  std::uint64_t not_finite_ = 0;
  Excerpts excerpts_;
};

// The curves of one run in a picture.
struct PlottedRun {
  std::string name;  // empty: this run
  std::vector<Series> series;
};

}  // namespace rml::rt
