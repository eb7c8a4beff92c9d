// The thread reads each row into the row of the source and then copies it to a batch. Readers may
// therefore keep pointers, and a batch can be handed over while a row is incomplete.
#include "runtime/pipeline/read_ahead.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/base/signals.h"

namespace rml::rt {
ReadAhead::ReadAhead(std::unique_ptr<RowSource> source, const Row& row, Ahead ahead)
    : source_(std::move(source)),
      row_(row),
      ahead_(std::move(ahead)),
      shape_(row),
      shown_(Row::showing(row, row.size())),
      warm_up_(ahead_.threads && several_processors()) {
  for (std::uint32_t i = 0; i < row.size(); ++i) {
    if (!row.port(i).always) placed_.push_back(i);
  }
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  exchange_->stop();
  if (ahead_.wake_up != nullptr) ahead_.wake_up->ring();
  thread_.join();
}

bool ReadAhead::read() {
  if (!exchange_) return read_here();
  while (true) {
    if (taken_ != nullptr) {
      if (taken_->rows.show_next(shown_)) return true;
      if (taken_->failure) std::rethrow_exception(taken_->failure);
      if (taken_->last) return false;
      exchange_->put_empty(std::exchange(taken_, nullptr));
    }
    taken_ = next_batch();
    fraction_ = taken_->fraction;
  }
}

void ReadAhead::pass(std::uint32_t rows) {
  taken_->rows.pass(rows - 1);
  taken_->rows.show_next(shown_);
}

bool ReadAhead::read_here() {
  if (!source_->read()) return false;
  ++rows_;
  if (warm_up_.over()) start();
  return true;
}

// The row that was just read is handed over like later rows, because the thread needs the row of
// the source for the next one.
void ReadAhead::start() {
  warm_up_.give_up();
  try {
    exchange_ =
        std::make_unique<Exchange<Read>>(batches_for(shape_), 1, [this] { return std::make_unique<Read>(shape_); });
    add_row();
    Read* const first = exchange_->take_full([] { return true; });
    thread_ = start_thread([this] { read_all(); });
    taken_ = first;
    taken_->rows.show_next(shown_);
    fraction_ = taken_->fraction;
  } catch (const std::bad_alloc&) {
    exchange_.reset();
  } catch (const std::system_error&) {
    exchange_.reset();
  }
}

ReadAhead::Read* ReadAhead::next_batch() {
  bool flushed = false;
  while (true) {
    Read* const batch = exchange_->take_full([&] {
      return interrupt_signal() != 0 || ticked_.load() || (!flushed && waiting_.load(std::memory_order_acquire));
    });
    if (batch != nullptr) return batch;
    if (interrupt_signal() != 0) throw Interrupted{};
    if (ticked_.exchange(false)) {
      ahead_.during();
      continue;
    }
    if (!std::exchange(flushed, true) && ahead_.flush) ahead_.flush();
  }
}

void ReadAhead::before_waiting() {
  if (!exchange_) {
    warm_up_.waited();
    if (ahead_.flush) ahead_.flush();
    return;
  }
  if (filling_ != nullptr && filling_->rows.rows() > 0) hand_over();
  waiting_.store(true, std::memory_order_release);
  exchange_->wake();
}

void ReadAhead::during_wait() {
  if (!ahead_.during) return;
  if (!exchange_) return ahead_.during();
  ticked_.store(true);
  exchange_->wake();
}

void ReadAhead::read_all() {
  std::exception_ptr failure;
  try {
    while (!exchange_->stopped() && rows_ != most_) {
      if (add_rows()) continue;
      if (!source_->read()) break;
      ++rows_;
      if (waiting_.load(std::memory_order_relaxed)) waiting_.store(false, std::memory_order_release);
      add_row();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (filling_ == nullptr) filling_ = exchange_->take_empty();
  if (filling_ == nullptr) return;
  filling_->last = true;
  filling_->failure = std::move(failure);
  hand_over();
}

void ReadAhead::begin_batch() {
  if (filling_ != nullptr) return;
  filling_ = exchange_->take_empty();
  if (filling_ == nullptr) throw Interrupted{};
  filling_->rows.clear();
  filling_->places.clear();
}

// Adds rows that the source has available, as many as the batch has room for; false if there are
// none.
bool ReadAhead::add_rows() {
  begin_batch();
  std::uint32_t rows = filling_->rows.room();
  if (most_) rows = static_cast<std::uint32_t>(std::min<std::int64_t>(rows, *most_ - rows_));
  rows = source_->rows_at_hand(rows);
  if (rows == 0) return false;
  if (waiting_.load(std::memory_order_relaxed)) waiting_.store(false, std::memory_order_release);
  begin_batch();  // the source may have waited and handed over the last batch
  filling_->rows.add(rows, [this](std::uint32_t count, char* const* to) { source_->take_rows(count, to); });
  filling_->places.resize(filling_->places.size() + rows * placed_.size());
  rows_ += rows;
  hand_over_if_worth();
  return true;
}

void ReadAhead::add_row() {
  begin_batch();
  filling_->rows.add(row_);
  for (const std::uint32_t port : placed_) filling_->places.push_back(source_->where(port));
  hand_over_if_worth();
}

void ReadAhead::hand_over_if_worth() {
  if (filling_->rows.rows() >= worth_ || filling_->rows.room() == 0) hand_over();
}

void ReadAhead::hand_over() {
  filling_->fraction = source_->fraction();
  exchange_->put_full(std::exchange(filling_, nullptr));
  worth_ = std::min(2 * worth_, Batch::most_rows);
}

Place ReadAhead::where(std::uint32_t port) const {
  if (!exchange_) return source_->where(port);
  const auto it = std::lower_bound(placed_.begin(), placed_.end(), port);
  if (taken_ == nullptr || taken_->rows.shown() == 0 || it == placed_.end() || *it != port) return {};
  return taken_->places[(taken_->rows.shown() - 1) * placed_.size() + static_cast<std::size_t>(it - placed_.begin())];
}

double ReadAhead::fraction() const { return exchange_ ? fraction_ : source_->fraction(); }

}  // namespace rml::rt
