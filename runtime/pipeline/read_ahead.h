// The input side of a run: a source whose rows a thread of its own reads ahead, into a bounded number of batches.
//
// To the run it is the source itself: the same rows, the same place for each, and what is wrong with the input is
// thrown where the row would be. Until the run has been busy for a while (warm_up.h) it reads each row when it is asked
// for; likewise where no thread can be had. When the thread has to wait for input and the run has used up all rows
// before, the outputs are flushed, as without the thread: a peer that waits for row n before sending row n+1 gets it.
//
// The thread hands a batch over when it is full or before it waits; the first batches are small, so that the run need
// not wait for the first rows either.
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
  bool threads = true;               // whether there may be one
  std::function<void()> flush = {};  // by the run's thread, before it waits for input
  const WakeUp* wake_up = nullptr;   // ends the source's waits
};

class ReadAhead final : public RowSource {
 public:
  // source fills `row`.
  ReadAhead(std::unique_ptr<RowSource> source, const Row& row, Ahead ahead);
  ~ReadAhead() override;

  bool read() override;
  // The values of the last read.
  const Row& row() const { return shown_; }
  // The value of a port so many rows later, if that has been read.
  const void* ahead(std::uint32_t port, std::uint32_t rows) const {
    return taken_ == nullptr ? nullptr : taken_->rows.ahead(port, rows);
  }
  // The rows behind this one that have been read and lie side by side, and where.
  std::uint32_t side_by_side() const { return taken_ == nullptr ? 0 : taken_->rows.rows() - taken_->rows.shown(); }
  void point_at_rows(PortArrays& to) const { taken_->rows.point_at_rows(to); }
  // … read, all of so many.
  void pass(std::uint32_t rows);
  Place where(std::uint32_t port) const override;
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override;
  const std::string& name() const override { return source_->name(); }

  // The run needs no more rows than these, from the first on.
  void limit(std::int64_t rows) { most_ = rows; }
  // The source is going to wait for input (Waiting::before).
  void before_waiting();

 private:
  // Rows as they were read, and what came after them.
  struct Read {
    explicit Read(const RowShape& shape) : rows(shape) {}
    Batch rows;
    std::vector<Place> places;  // by row, of the ports that may be absent
    double fraction = -1;       // of the input, with these rows
    bool last = false;
    std::exception_ptr failure;
  };

  // ---- Of the run's thread. ----
  bool read_here();
  void start();
  Read* next_batch();

  // ---- Of the reading thread, or before there is one. ----
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
  std::vector<std::uint32_t> placed_;  // ports that may be absent: asked for their places if presence is wrong
  Row shown_;
  WarmUp warm_up_;
  std::int64_t rows_ = 0;  // read from the source
  std::optional<std::int64_t> most_;

  std::unique_ptr<Exchange<Read>> exchange_;  // null: there is no thread
  Read* taken_ = nullptr;
  double fraction_ = -1;

  Read* filling_ = nullptr;
  std::uint32_t worth_ = 1;           // rows of the next batch
  std::atomic<bool> waiting_{false};  // the source waits for input
  std::thread thread_;
};

}  // namespace rml::rt
