// Circulates a few batches between two threads: one fills them, the other one empties them, in
// order.
//
// Nothing is allocated after construction. A sleeping thread is only woken if it is worth it: the
// filling thread when half of the batches are empty; the emptying thread when `worth` batches are
// full, or when another condition holds.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/channel/ring.h"

namespace rml::rt {

template <typename Batch>
class Exchange {
 public:
  template <typename Make>
  Exchange(std::size_t count, std::size_t worth, Make make)
      : worth_(worth), half_(std::max<std::size_t>(count / 2, 1)), full_(count), empty_(count) {
    for (std::size_t k = 0; k < count; ++k) {
      batches_.push_back(make());
      empty_.try_push(batches_.back().get());
    }
  }

  // Ends the waits of both threads. Any thread may call it.
  void stop() {
    stopped_.store(true, std::memory_order_release);
    wake();
    emptied_.ring();
  }
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // Lets the emptying thread check its condition again.
  void wake() { filled_.ring(); }

  // ---- for the filling thread ----

  // Takes an empty batch. Returns null if the exchange was stopped.
  Batch* take_empty() {
    Batch* batch = nullptr;
    if (empty_.try_pop(batch)) return batch;
    emptied_.wait([this] { return stopped() || empty_.size() >= half_; });
    return empty_.try_pop(batch) ? batch : nullptr;
  }
  void put_full(Batch* batch) {
    full_.try_push(batch);
    if (full_.size() >= worth_) filled_.ring();
  }
  // Waits until all batches are empty, except for `mine` batches of the caller.
  void wait_for_empty(std::size_t mine) {
    emptied_.wait([this, mine] { return empty_.size() == batches_.size() - mine; });
  }

  // ---- for the emptying thread ----

  // Takes a full batch. Returns null if there is none, and stopped() or `also` holds.
  template <typename Condition>
  Batch* take_full(Condition also) {
    Batch* batch = nullptr;
    if (full_.try_pop(batch)) return batch;
    filled_.wait([&] { return full_.size() >= worth_ || stopped() || also(); });
    return full_.try_pop(batch) ? batch : nullptr;
  }
  bool any_full() { return full_.has_element(); }
  void put_empty(Batch* batch) {
    empty_.try_push(batch);
    if (empty_.size() >= half_) emptied_.ring();
  }

 private:
  const std::size_t worth_, half_;
  std::vector<std::unique_ptr<Batch>> batches_;
  Ring<Batch*> full_, empty_;
  std::atomic<bool> stopped_{false};
  alignas(128) Doorbell filled_;
  alignas(128) Doorbell emptied_;
};

}  // namespace rml::rt
