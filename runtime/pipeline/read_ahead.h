// The input side of a run: a source whose rows are read ahead by a thread of its own, into a
// bounded number of batches.
//
// For the run it behaves like the source: the same rows and places, and an error of the input is
// thrown when its row would be read. Until the run has been busy for a while (warm_up.h), and if
// no thread can be started, each row is read when it is requested. If the thread has to wait for
// input and the run has used all earlier rows, the outputs are flushed, as without the thread; a
// peer then receives row n even if it sends row n+1 only afterwards.
//
// The thread hands a batch over when it is full or before it waits. The first batches are small,
// so that the run need not wait long for the first rows.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/pipeline/batch.h"
#include "runtime/pipeline/exchange.h"
#include "runtime/pipeline/wake_up.h"
#include "runtime/pipeline/warm_up.h"
#include "runtime/stream_io/row_source.h"

namespace rml::rt {

struct Ahead {
  bool threads = true;               // a thread may be used
  std::function<void()> flush = {};  // called by the thread of the run, before it waits for input
  const WakeUp* wake_up = nullptr;   // ends the waits of the source
  // called by the thread of the run several times a second while it waits for input; empty: not called
  std::function<void()> during = {};
};

class ReadAhead final : public RowSource {
 public:
  // Reads rows of the source ahead. The source fills `row`.
  ReadAhead(std::unique_ptr<RowSource> source, const Row& row, Ahead ahead);
  ~ReadAhead() override;

  bool read() override;
  // The values of the last read.
  const Row& row() const { return shown_; }
  // The value of a port `rows` rows later, if that row was already read.
  const void* ahead(std::uint32_t port, std::uint32_t rows) const {
    return taken_ == nullptr ? nullptr : taken_->rows.ahead(port, rows);
  }
  // Number of further rows that are stored adjacently, and their addresses.
  std::uint32_t side_by_side() const { return taken_ == nullptr ? 0 : taken_->rows.rows() - taken_->rows.shown(); }
  void point_at_rows(PortArrays& to) const { taken_->rows.point_at_rows(to); }
  // Skips `rows` of the adjacent rows.
  void pass(std::uint32_t rows);
  Place where(std::uint32_t port) const override;
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override;
  const std::string& name() const override { return source_->name(); }

  // The run needs at most this many rows, counted from the first one.
  void limit(std::int64_t rows) { most_ = rows; }
  // Called when the source is about to wait for input (Waiting::before).
  void before_waiting();
  // Called while the source waits for input (Waiting::during).
  void during_wait();

 private:
  // A batch of rows, and the event that followed them.
  struct Read {
    explicit Read(const RowShape& shape) : rows(shape) {}
    Batch rows;
    std::vector<Place> places;  // one per row: places in the file of ports that may be absent
    double fraction = -1;       // share of the input up to these rows
    bool last = false;
    std::exception_ptr failure;
  };

  // ---- for the thread of the run ----
  bool read_here();
  void start();
  Read* next_batch();

  // ---- for the reading thread, or before it exists ----
  void read_all();
  void begin_batch();
  bool add_rows();
  void add_row();
  void hand_over_if_worth();
  void hand_over();

  std::unique_ptr<RowSource> source_;
  const Row& row_;
  const Ahead ahead_;
  const RowShape shape_;
  // ports that may be absent; messages about wrong presence need their places
  std::vector<std::uint32_t> placed_;
  Row shown_;
  WarmUp warm_up_;
  std::int64_t rows_ = 0;  // number of rows read from the source
  std::optional<std::int64_t> most_;

  std::unique_ptr<Exchange<Read>> exchange_;  // passes batches between the threads; null: there is no second thread
  Read* taken_ = nullptr;
  double fraction_ = -1;

  Read* filling_ = nullptr;
  std::uint32_t worth_ = 1;           // number of rows at which the next batch is handed over
  std::atomic<bool> waiting_{false};  // the source waits for input
  std::atomic<bool> ticked_{false};   // `during` of the run is due
  std::thread thread_;
};

}  // namespace rml::rt
