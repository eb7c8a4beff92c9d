// timer://PERIOD: rows that come at fixed times, in which a Boolean input is true.
//
// The first tick comes one period after the run begins to read. Times are multiples of the period from
// then on, so a late row delays none of the following ones. If the run is slower than the period,
// the ticks that have passed meanwhile are one row, and the others are counted as missed.
//
// Beside an input with ?silent, a timer does not wait: its input is true in the cycles in which a tick is due, and
// false in those that a row of the other input has begun.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/byte_stream.h"
#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/row.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

// The times of the ticks of a timer.
class Ticks {
 public:
  // missed: counts ticks that were not taken; null: they are not counted.
  Ticks(std::chrono::nanoseconds period, std::atomic<std::int64_t>* missed);

  // The time of the next tick, which may have passed. The first call begins the first period.
  Time::time_point next();
  // Counts all passed ticks but one as missed.
  void skip_missed();
  // The next tick was taken.
  void take() { *next_ += period_; }

 private:
  const std::chrono::nanoseconds period_;
  std::atomic<std::int64_t>* const missed_;
  std::optional<Time::time_point> next_;  // none before the first call
};

// port: a Boolean scalar that is present at every cycle. waits: a cycle begins with a tick.
std::unique_ptr<RowSource> timer_rows(const Address& address, Row& row, std::uint32_t port, Waiting waiting,
                                      std::shared_ptr<Ticks> ticks, bool waits);

}  // namespace rml::rt
