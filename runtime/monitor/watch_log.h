// Prints the watched variables of every row, one line for each that is present (--watch):
//
//   cycle 12: layer.moved = 0.25
//   cycle 12: layer.w = f64[128,64], from -0.31 to 0.29, 2 not finite
//
// For tensors with many elements only the extremes are printed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/options/options.h"
#include "runtime/stream_io/bytes/byte_sink.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

class WatchLog {
 public:
  // Opens the log. Throws Failure if the file cannot be written.
  WatchLog(const Options& options, const Row& outputs);
  // Prints the values of the row that are present.
  void row(std::int64_t cycle);
  void flush();
  void close();

 private:
  std::string extremes(std::uint32_t port) const;

  const Row& outputs_;
  const std::vector<std::uint32_t>& ports_;
  std::optional<ByteSink> file_;  // the file of the log; none: standard error
};

}  // namespace rml::rt
