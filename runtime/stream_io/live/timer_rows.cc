// A wait is cut into parts, so that a signal is noticed.
#include "runtime/stream_io/live/timer_rows.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/stream_io/bytes/waiting.h"

namespace rml::rt {
namespace {

class TimerRows final : public RowSource {
 public:
  TimerRows(const Address& address, Row& row, std::uint32_t port, Waiting waiting)
      : name_(address.name), period_(address.period), row_(row), port_(port), waiting_(std::move(waiting)) {
    if (waiting_.missed_ticks != nullptr && waiting_.missed_ticks->load() < 0) waiting_.missed_ticks->store(0);
  }

  bool read() override {
    check_interrupt();
    Time::time_point now = Time::now();
    if (!next_) next_ = now + period_;
    if (const auto late = (now - *next_) / period_; late > 0) {
      if (waiting_.missed_ticks != nullptr) waiting_.missed_ticks->fetch_add(late);
      *next_ += late * period_;
    }
    for (bool waited = false; now < *next_; now = Time::now()) {
      waiting_.tick(waited);
      sleep(std::min<std::chrono::nanoseconds>(*next_ - Time::now(), std::chrono::milliseconds(tick_ms)));
      check_interrupt();
    }
    *next_ += period_;
    *static_cast<std::uint8_t*>(row_.data(port_)) = 1;
    row_.set_present(port_, true);
    return true;
  }
  bool endless() const override { return true; }
  Place where(std::uint32_t) const override { return {}; }
  double fraction() const override { return -1; }
  const std::string& name() const override { return name_; }

 private:
  static void sleep(std::chrono::nanoseconds time) {
    if (time.count() <= 0) return;
    const timespec wanted{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    ::nanosleep(&wanted, nullptr);
  }

  const std::string name_;
  const std::chrono::nanoseconds period_;
  Row& row_;
  const std::uint32_t port_;
  const Waiting waiting_;
  std::optional<Time::time_point> next_;  // none before the first row
};

}  // namespace

std::unique_ptr<RowSource> timer_rows(const Address& address, Row& row, std::uint32_t port, Waiting waiting) {
  return std::make_unique<TimerRows>(address, row, port, std::move(waiting));
}

}  // namespace rml::rt
