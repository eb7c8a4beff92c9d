// Waits use poll in short intervals.
#include "runtime/stream_io/bytes/waiting.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "runtime/base/failure.h"
#include "runtime/base/signals.h"

namespace rml::rt {

bool ready(int fd, short events, int milliseconds) {
  pollfd wanted{fd, events, 0};
  return ::poll(&wanted, 1, milliseconds) > 0;
}

void check_interrupt() {
  if (interrupt_signal() != 0) throw Interrupted{};
}

int Deadline::part(int most) const {
  if (!end_) return most;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - Time::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, most));
}

void Deadline::check() const {
  if (end_ && interrupt_signal() == 0 && Time::now() >= *end_) throw Silence{};
}

bool Grace::over() {
  if (interrupt_signal() == 0) return false;
  if (!since_) since_ = Time::now();
  return seconds_since(*since_) >= seconds_;
}

void BackOff::pause(const Check& check) {
  const Time::time_point begin = Time::now();
  while (true) {
    const int left = milliseconds_ - static_cast<int>(seconds_since(begin) * 1000);
    if (left <= 0) break;
    ::poll(nullptr, 0, std::min(left, tick_ms));
    check();
  }
  milliseconds_ = std::min(2 * milliseconds_, 1000);
}

std::string seconds_text(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%g s", seconds);
  return text;
}

}  // namespace rml::rt
