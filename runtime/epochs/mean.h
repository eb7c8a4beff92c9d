// The mean of all elements of an output over the rows in which it is present.
#pragma once

#include <cstdint>

#include "runtime/stream_io/row.h"

namespace rml::rt {

class Mean {
 public:
  // Adds the elements of the port, if it is present.
  void add(const Row& row, std::uint32_t port);
  bool empty() const { return count_ == 0; }
  double value() const { return (sum_ + rest_) / static_cast<double>(count_); }

 private:
  void add(double value);

  double sum_ = 0, rest_ = 0;  // rest_: the rounding errors of the sum (Neumaier)
  std::uint64_t count_ = 0;
};

}  // namespace rml::rt
