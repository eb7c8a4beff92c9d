// The output side of a run: all its sinks, with a thread that formats and writes rows while the
// run computes.
//
// Rows are copied into a bounded number of batches, which the thread writes in order. Until the
// run has been busy for a while (warm_up.h), and if no thread can be started, each row is written
// directly. An error of a sink, on either thread, is thrown once, by the next write or catch_up.
// A caller that wants to use the sinks itself, to flush, settle or close them, first calls
// catch_up: then all rows are written to them and the thread is idle.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/base/problems.h"
#include "runtime/pipeline/batch.h"
#include "runtime/pipeline/exchange.h"
#include "runtime/pipeline/warm_up.h"
#include "runtime/stream_io/row_sink.h"

namespace rml::rt {

class WriteBehind {
 public:
  // row: the row to be written, of whose first `ports` ports sinks may be made. threads: a thread
  // may be used.
  WriteBehind(const Row& row, std::uint32_t ports, bool threads);
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  // The row for which sinks are to be made.
  const Row& row() const { return shown_; }
  void add(std::unique_ptr<RowSink> sink, const std::vector<std::uint32_t>& ports);

  // Excludes a thread for this run.
  void without_thread() { warm_up_.give_up(); }

  void write();
  // For rows that are stored adjacently: the number that fits (0: not available yet), the
  // addresses for the ports that are written, and the notification that rows were stored.
  std::uint32_t room();
  void point_at_room(PortArrays& to) const { filling_->point_at_room(to); }
  void added(std::uint32_t rows);
  // Only if there is never a thread: writes the row to one sink before its cycle has come, and
  // later to the sinks that did not get it.
  void write_early(std::size_t sink);
  void write_but(const std::vector<bool>& had);
  void catch_up();
  // True if there is a failure that was not thrown yet.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // Writes everything possible and closes all sinks, after a failure of the run.
  void salvage(Problems& problems);
  const std::vector<std::unique_ptr<RowSink>>& sinks() const { return sinks_; }

 private:
  void start();
  void begin_batch();
  void pass_on();
  void hand_over_if_full();
  void write_all();
  void write_batch(Batch& batch);
  void write_shown();
  template <class F>
  void attempt(const F& action);
  void throw_failure();

  const Row& row_;
  std::vector<std::unique_ptr<RowSink>> sinks_;
  std::vector<std::uint32_t> ports_;
  Row shown_;
  WarmUp warm_up_;

  std::unique_ptr<RowShape> shape_;
  std::unique_ptr<Exchange<Batch>> exchange_;  // passes batches between the threads; null: there is no second thread
  Batch* filling_ = nullptr;
  bool handed_over_ = false;  // batches were handed over since the last catch_up
  std::atomic<bool> hurry_{false};
  std::thread thread_;

  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::deque<std::exception_ptr> failures_;
};

}  // namespace rml::rt
