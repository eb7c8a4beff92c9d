// The thread starts when the warm-up is over. If a thread or the batches cannot be created, rows
// are still written directly.
#include "runtime/pipeline/write_behind.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "runtime/base/signals.h"

namespace rml::rt {

WriteBehind::WriteBehind(const Row& row, std::uint32_t ports, bool threads)
    : row_(row), shown_(Row::showing(row, ports)), warm_up_(threads && several_processors()) {}

WriteBehind::~WriteBehind() {
  if (!thread_.joinable()) return;
  exchange_->stop();
  thread_.join();
}

void WriteBehind::add(std::unique_ptr<RowSink> sink, const std::vector<std::uint32_t>& ports) {
  sinks_.push_back(std::move(sink));
  ports_.insert(ports_.end(), ports.begin(), ports.end());
}

void WriteBehind::write() {
  if (exchange_) {
    pass_on();
  } else {
    write_shown();
    if (!sinks_.empty() && warm_up_.over()) start();
  }
  if (failed()) throw_failure();
}

void WriteBehind::begin_batch() {
  if (filling_ != nullptr) return;
  filling_ = exchange_->take_empty();
  filling_->clear();
}

void WriteBehind::pass_on() {
  begin_batch();
  filling_->add(row_);
  hand_over_if_full();
}

std::uint32_t WriteBehind::room() {
  if (!exchange_) return 0;
  begin_batch();
  return filling_->room();
}

void WriteBehind::added(std::uint32_t rows) {
  filling_->added(rows);
  hand_over_if_full();
  if (failed()) throw_failure();
}

void WriteBehind::hand_over_if_full() {
  if (filling_->room() > 0) return;
  exchange_->put_full(std::exchange(filling_, nullptr));
  handed_over_ = true;
}

// If the thread is idle, a few rows are written directly, because waking it takes longer.
void WriteBehind::catch_up() {
  warm_up_.waited();
  if (exchange_) {
    if (handed_over_) {
      if (filling_ != nullptr) exchange_->put_full(std::exchange(filling_, nullptr));
      hurry_.store(true, std::memory_order_release);
      exchange_->wake();
      exchange_->wait_for_empty(0);
      hurry_.store(false, std::memory_order_release);
      handed_over_ = false;
    } else if (filling_ != nullptr) {
      write_batch(*filling_);
      filling_->clear();
    }
  }
  if (failed()) throw_failure();
}

void WriteBehind::start() {
  warm_up_.give_up();
  try {
    std::sort(ports_.begin(), ports_.end());
    ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
    shape_ = std::make_unique<RowShape>(shown_, ports_);
    const std::size_t count = batches_for(*shape_);
    exchange_ = std::make_unique<Exchange<Batch>>(count, std::max<std::size_t>(count / 2, 1),
                                                  [this] { return std::make_unique<Batch>(*shape_); });
    thread_ = start_thread([this] { write_all(); });
  } catch (const std::bad_alloc&) {
    exchange_.reset();
  } catch (const std::system_error&) {
    exchange_.reset();
  }
}

void WriteBehind::write_all() {
  while (true) {
    Batch* const batch =
        exchange_->take_full([this] { return hurry_.load(std::memory_order_acquire) && exchange_->any_full(); });
    if (exchange_->stopped()) return;
    if (batch == nullptr) continue;
    write_batch(*batch);
    exchange_->put_empty(batch);
  }
}

void WriteBehind::write_batch(Batch& batch) {
  while (batch.show_next(shown_)) write_shown();
}

void WriteBehind::write_early(std::size_t sink) {
  attempt([&] {
    sinks_[sink]->set_early(true);
    sinks_[sink]->write();
  });
  if (failed()) throw_failure();
}

void WriteBehind::write_but(const std::vector<bool>& had) {
  for (std::size_t k = 0; k < sinks_.size(); ++k)
    attempt([&] { had[k] ? sinks_[k]->set_early(false) : sinks_[k]->write(); });
  if (failed()) throw_failure();
}

void WriteBehind::salvage(Problems& problems) {
  do {
    problems.attempt([&] { catch_up(); });
  } while (failed());
  for (const auto& sink : sinks_) problems.attempt([&] { sink->close(); });
}

void WriteBehind::write_shown() {
  for (const auto& sink : sinks_) attempt([&] { sink->write(); });
}

// Stores the failure of a sink; the other sinks continue.
template <class F>
void WriteBehind::attempt(const F& action) {
  try {
    action();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(std::current_exception());
    failed_.store(true, std::memory_order_release);
  }
}

void WriteBehind::throw_failure() {
  std::exception_ptr failure;
  {
    const std::lock_guard lock(mutex_);
    failure = std::move(failures_.front());
    failures_.pop_front();
    failed_.store(!failures_.empty(), std::memory_order_release);
  }
  std::rethrow_exception(failure);
}

}  // namespace rml::rt
