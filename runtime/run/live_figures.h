// The figures of a run while it runs: rows, lag, keys, bad rows.
//
// A signal handler and the thread of the reporter read them, so reading them takes no lock and
// allocates nothing, and keeping them costs a row nothing: rows are counted in the header of the
// state, which the program updates anyway, and the clock is read only when the run begins to wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/stream_io/bad_rows.h"

namespace rml::rt {

class LiveFigures {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~LiveFigures() = default;
  virtual std::int64_t rows_read() const = 0;     // rows of the input, including those of earlier runs
  virtual std::int64_t rows_written() const = 0;  // rows that are known
  // A negative number: this run has no such figure.
  virtual std::int64_t keys() const { return -1; }
  virtual std::int64_t bad_rows() const { return -1; }
  virtual std::int64_t missed_ticks() const { return -1; }

  // The run begins to wait for a row. Called by the thread that reads.
  void waits() {
    waits_at_row_.store(rows_read(), std::memory_order_relaxed);
    waits_since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  // The time since which the run has waited for the next row; zero if it does not wait.
  Clock::duration idle() const {
    if (waits_at_row_.load(std::memory_order_relaxed) != rows_read()) return {};
    return Clock::now().time_since_epoch() - Clock::duration(waits_since_.load(std::memory_order_relaxed));
  }

 private:
  std::atomic<std::int64_t> waits_at_row_{-1};
  std::atomic<Clock::rep> waits_since_{0};
};

// A count that one thread changes with plain instructions, among them those of compiled code, and
// that others read: aligned words are read whole.
inline std::int64_t read_count(const std::int64_t& count) { return *static_cast<const volatile std::int64_t*>(&count); }

// The figures of a run that keeps its counts at these addresses.
class RowFigures : public LiveFigures {
 public:
  // bad: null if no rows are skipped. missed: negative without a timer.
  RowFigures(const std::int64_t& read, const std::int64_t& written, const BadRows* bad,
             const std::atomic<std::int64_t>& missed)
      : read_(read), written_(written), bad_(bad), missed_(missed) {}
  std::int64_t missed_ticks() const override { return missed_.load(std::memory_order_relaxed); }
  std::int64_t rows_read() const override { return read_count(read_); }
  std::int64_t rows_written() const override { return read_count(written_); }
  std::int64_t bad_rows() const override { return bad_ == nullptr ? -1 : bad_->count(); }

 private:
  const std::int64_t& read_;
  const std::int64_t& written_;
  const BadRows* const bad_;
  const std::atomic<std::int64_t>& missed_;
};

}  // namespace rml::rt
