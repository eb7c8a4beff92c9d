// Curves of scalar outputs over the cycles of a run, for --log and --plot.
//
// A Series keeps a bounded number of buckets, each with the mean and the extremes of neighbouring
// values. When there are too many, neighbours are joined. So a run of any length has a curve of
// its whole length that includes every outlier.
#pragma once

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
  double first = 0, last = 0;  // cycles
  double count = 0, sum = 0, least = 0, most = 0;
  double mean() const { return sum / count; }
  double middle() const { return (first + last) / 2; }
};

class Series {
 public:
  explicit Series(std::string name) : name_(std::move(name)) {}
  void add(std::int64_t cycle, double value);

  const std::string& name() const { return name_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }
  std::uint64_t not_finite() const { return not_finite_; }

  // The series as numbers for a checkpoint, and back; restore returns false if the numbers are
  // not a series.
  std::vector<double> numbers() const;
  bool restore(const std::vector<double>& numbers);

 private:
  static constexpr std::size_t most_buckets = 2048;

  std::string name_;
  std::vector<Bucket> buckets_;
  double bucket_size_ = 1;  // values per bucket
  std::uint64_t not_finite_ = 0;
};

}  // namespace rml::rt
