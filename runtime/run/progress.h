// The progress line on stderr: cycles, cycles per second, remaining time, and the chosen outputs.
//
// A terminal shows one line that is redrawn at most ten times a second. Elsewhere a new line is
// printed every two seconds. The remaining time is shown if the size of the input or --cycles is
// known. The line is erased or ended before anything else is printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "runtime/options/options.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {

class Progress {
 public:
  Progress(const Options& options, const Row& outputs);
  bool enabled() const { return enabled_; }
  // Begins the display. `cycles` is the number of cycles that earlier runs computed.
  void begin(std::int64_t cycles) { before_ = cycles; }
  // Call after each cycle. fraction: completed share of the work, negative if unknown.
  void tick(std::int64_t cycles, double fraction) {
    if (enabled_) draw_when_due(cycles, fraction);
  }
  void finish(std::int64_t cycles);

 private:
  using Clock = std::chrono::steady_clock;
  void draw_when_due(std::int64_t cycles, double fraction);
  void draw(std::int64_t cycles, double fraction);

  bool enabled_ = false;
  bool terminal_ = false;
  bool drawn_ = false;
  std::int64_t before_ = 0;
  Clock::time_point start_;
  Clock::time_point next_;
  const Row& outputs_;
  std::vector<std::uint32_t> monitored_;
};

}  // namespace rml::rt
