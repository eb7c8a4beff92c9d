// The moments at which a run saves its state while it continues (--save-every): after every N cycles,
// or after a period of time in which rows came. A run that waits for a row saves as well, so a source
// that falls silent leaves no rows behind that are not saved.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/options/options.h"

namespace rml::rt {

class SaveTimes {
 public:
  explicit SaveTimes(const Options& options);

  // Cycles are counted from the first one of the run.
  void begin(std::int64_t cycles) { saved(cycles); }
  // Call it after a cycle.
  bool due(std::int64_t cycles) const { return every_ > 0 ? cycles % every_ == 0 : timed() && due_in_wait(cycles); }
  // True if the run saves after a period of time.
  bool timed() const { return period_.count() > 0; }
  bool due_in_wait(std::int64_t cycles) const;
  void saved(std::int64_t cycles);
  // At least this many cycles follow before a number of cycles makes it due.
  std::int64_t left(std::int64_t cycles) const { return every_ > 0 ? every_ - cycles % every_ : INT64_MAX; }

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t every_ = 0;  // in cycles; 0: not by cycles
  std::chrono::nanoseconds period_{0};
  std::int64_t saved_at_ = 0;  // cycle of the last saved state
  Clock::time_point next_;
};

}  // namespace rml::rt
