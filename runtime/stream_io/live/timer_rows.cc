// A wait is cut into parts, so that a signal is noticed.
#include "runtime/stream_io/live/timer_rows.h"

#include <time.h>

#include <algorithm>
#include <utility>

namespace rml::rt {

Ticks::Ticks(std::chrono::nanoseconds period, std::atomic<std::int64_t>* missed) : period_(period), missed_(missed) {
  if (missed_ != nullptr && missed_->load() < 0) missed_->store(0);
}

Time::time_point Ticks::next() {
  if (!next_) next_ = Time::now() + period_;
  return *next_;
}

void Ticks::skip_missed() {
  const auto late = (Time::now() - next()) / period_;
  if (late <= 0) return;
  if (missed_ != nullptr) missed_->fetch_add(late);
  *next_ += late * period_;
}

namespace {

class TimerRows final : public RowSource {
 public:
  TimerRows(const Address& address, Row& row, std::uint32_t port, Waiting waiting, std::shared_ptr<Ticks> ticks,
            bool waits)
      : name_(address.name),
        row_(row),
        port_(port),
        waiting_(std::move(waiting)),
        ticks_(std::move(ticks)),
        waits_(waits) {}

  bool read() override {
    if (waits_) check_interrupt();
    ticks_->skip_missed();
    if (waits_) wait();
    const bool due = Time::now() >= ticks_->next();
    if (due) ticks_->take();
    *static_cast<std::uint8_t*>(row_.data(port_)) = due ? 1 : 0;
    row_.set_present(port_, true);
    return true;
  }
  bool endless() const override { return true; }
  Place where(std::uint32_t) const override { return {}; }
  double fraction() const override { return -1; }
  const std::string& name() const override { return name_; }

 private:
  void wait() {
    const Time::time_point next = ticks_->next();
    bool waited = false;
    for (Time::time_point now = Time::now(); now < next; now = Time::now()) {
      waiting_.tick(waited);
      sleep(std::min<std::chrono::nanoseconds>(next - Time::now(), std::chrono::milliseconds(tick_ms)));
      check_interrupt();
    }
  }
  static void sleep(std::chrono::nanoseconds time) {
    if (time.count() <= 0) return;
    const timespec wanted{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
    ::nanosleep(&wanted, nullptr);
  }

  const std::string name_;
  Row& row_;
  const std::uint32_t port_;
  const Waiting waiting_;
  const std::shared_ptr<Ticks> ticks_;
  const bool waits_;
};

}  // namespace

std::unique_ptr<RowSource> timer_rows(const Address& address, Row& row, std::uint32_t port, Waiting waiting,
                                      std::shared_ptr<Ticks> ticks, bool waits) {
  return std::make_unique<TimerRows>(address, row, port, std::move(waiting), std::move(ticks), waits);
}

}  // namespace rml::rt
