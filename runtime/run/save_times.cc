// The clock is read after each cycle only if a period was given.
#include "runtime/run/save_times.h"

namespace rml::rt {

SaveTimes::SaveTimes(const Options& options) {
  if (options.state_file().empty()) return;
  every_ = options.save_every;
  period_ = options.save_period;
}

bool SaveTimes::due_in_wait(std::int64_t cycles) const {
  return timed() && cycles != saved_at_ && Clock::now() >= next_;
}

void SaveTimes::saved(std::int64_t cycles) {
  saved_at_ = cycles;
  if (timed()) next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(period_);
}

}  // namespace rml::rt
