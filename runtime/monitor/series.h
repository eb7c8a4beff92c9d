// What --log and --plot show: the scalar outputs of a run, cycle by cycle.
//
// A Series keeps a bounded number of buckets, each the mean and the extremes of neighbouring values;
// when there are too many, neighbours are joined. So a run of any length has a curve of its whole
// length, in which no outlier is lost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/options/options.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

// The outputs named by --monitor, else all scalar ones that are numbers. Throws Failure if there are none.
std::vector<std::uint32_t> monitored_ports(const Options& options, const Row& outputs, const char* option);
// A Boolean is 0 or 1.
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

  // As numbers, for a checkpoint, and back; false if they are none.
  std::vector<double> numbers() const;
  bool restore(const std::vector<double>& numbers);

 private:
  static constexpr std::size_t most_buckets = 2048;

  std::string name_;
  std::vector<Bucket> buckets_;
  double bucket_size_ = 1;  // values
  std::uint64_t not_finite_ = 0;
};

}  // namespace rml::rt
