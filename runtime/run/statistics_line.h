// The line with the figures of a run that continues: --stats-every prints it periodically, and
// SIGUSR1 at any moment.
//
//   rows 12345, rows/s 1034.2, lag 3, idle 0.2 s, keys 50, bad rows 2
//
// The lag is the number of rows that were read and whose outputs are not known yet. The line is
// made without allocation and written by one system call, because a signal handler does both.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/run/live_figures.h"

namespace rml::rt {

class StatisticsLine {
 public:
  explicit StatisticsLine(const LiveFigures& figures)
      : figures_(figures), since_(LiveFigures::Clock::now()), rows_(figures.rows_read()) {}
  // Writes the line to standard error. The rate is that since the line before.
  void print() noexcept;

 private:
  const LiveFigures& figures_;
  LiveFigures::Clock::time_point since_;
  std::int64_t rows_;
};

}  // namespace rml::rt
