// The sum is compensated, so that the mean of many rows does not depend on their order in more than
// the last bit.
#include "runtime/epochs/mean.h"

#include <cmath>

#include "runtime/monitor/series.h"

namespace rml::rt {
void Mean::add(const Row& row, std::uint32_t port) {
  if (row.port(port).always == 0 && !row.is_present(port)) return;
  for (std::uint64_t k = 0; k < row.port(port).elements; ++k) add(scalar_value(row, port, k));
}

void Mean::add(double value) {
  const double sum = sum_ + value;
  // If the sum is not finite, the error is not a number, and would hide it.
  if (std::isfinite(sum)) rest_ += std::fabs(sum_) >= std::fabs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
  ++count_;
}

}  // namespace rml::rt
