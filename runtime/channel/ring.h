// Rings: bounded first-in first-out queues between one writing and one reading thread.
//
// Ring never waits and takes no lock. Its elements are those between two counters: only the
// producer changes `written`, only the consumer changes `read`, and both only increase. Each side
// keeps a copy of the other's counter. It reads the counter itself, which transfers a cache line,
// only if the copy means full or empty. Nothing is allocated after construction. Elements only
// need to be movable.
//
// BlockingRing can wait and can be closed. The threads that read and write the files of a program
// communicate by it.
//
// A ring must outlive the calls of both threads.
#ifndef RML_RUNTIME_CHANNEL_RING_H
#define RML_RUNTIME_CHANNEL_RING_H

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "runtime/channel/futex.h"

namespace rml {

template <typename T>
class Ring {
 public:
  static_assert(std::is_nothrow_destructible_v<T> && std::is_move_constructible_v<T>);

  // Creates a ring for exactly `capacity` elements, at least 1.
  explicit Ring(std::size_t capacity) : capacity_(checked(capacity)), mask_(std::bit_ceil(capacity) - 1) {
    slots_ = std::allocator<T>().allocate(mask_ + 1);
  }
  ~Ring() {
    const std::size_t written = producer_.written.load(std::memory_order_acquire);
    for (std::size_t k = consumer_.read.load(std::memory_order_acquire); k != written; ++k) std::destroy_at(slot(k));
    std::allocator<T>().deallocate(slots_, mask_ + 1);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::size_t capacity() const { return capacity_; }

  // Exact for the producer and the consumer while the other one is idle; otherwise an
  // approximation.
  std::size_t size() const {
    const std::size_t read = consumer_.read.load(std::memory_order_acquire);
    const std::size_t written = producer_.written.load(std::memory_order_acquire);
    return std::min(written - read, capacity_);
  }
  bool empty() const { return size() == 0; }

  // ---- for the producer ----

  bool has_room() { return room(producer_.written.load(std::memory_order_relaxed), 1) > 0; }

  // Returns false, without moving the value, if the ring is full.
  bool try_push(T&& value) { return try_emplace(std::move(value)); }
  bool try_push(const T& value) { return try_emplace(value); }

  template <typename... Arguments>
  bool try_emplace(Arguments&&... arguments) {
    const std::size_t written = producer_.written.load(std::memory_order_relaxed);
    if (room(written, 1) == 0) return false;
    std::construct_at(slot(written), std::forward<Arguments>(arguments)...);
    producer_.written.store(written + 1, std::memory_order_release);
    return true;
  }

  // Moves the first elements of a span into the ring, as many as there is room for, and makes
  // them visible together. Returns their number.
  std::size_t try_push_n(std::span<T> values) {
    const std::size_t written = producer_.written.load(std::memory_order_relaxed);
    const std::size_t count = std::min(values.size(), room(written, values.size()));
    Unfinished unfinished{this, written};
    for (; unfinished.end - written < count; ++unfinished.end) {
      std::construct_at(slot(unfinished.end), std::move(values[unfinished.end - written]));
    }
    producer_.written.store(written + count, std::memory_order_release);
    unfinished.begin = unfinished.end;
    return count;
  }

  // Adjacent free slots that may be written in place; empty if the ring is full. commit makes the
  // first n of them elements.
  std::span<T> writable()
    requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
  {
    const std::size_t written = producer_.written.load(std::memory_order_relaxed);
    return {slot(written), std::min(room(written, capacity_), mask_ + 1 - (written & mask_))};
  }
  void commit(std::size_t n)
    requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
  {
    const std::size_t written = producer_.written.load(std::memory_order_relaxed);
    producer_.written.store(written + n, std::memory_order_release);
  }

  // ---- for the consumer ----

  bool has_element() { return there(consumer_.read.load(std::memory_order_relaxed), 1) > 0; }

  bool try_pop(T& value)
    requires std::is_move_assignable_v<T>
  {
    const std::size_t read = consumer_.read.load(std::memory_order_relaxed);
    if (there(read, 1) == 0) return false;
    value = std::move(*slot(read));
    remove(read, 1);
    return true;
  }

  std::optional<T> try_pop() {
    const std::size_t read = consumer_.read.load(std::memory_order_relaxed);
    if (there(read, 1) == 0) return std::nullopt;
    std::optional<T> value(std::move(*slot(read)));
    remove(read, 1);
    return value;
  }

  // The oldest adjacent elements, which may be read or moved from in place; empty if the ring is
  // empty. consume removes the first n of them.
  std::span<T> readable() {
    const std::size_t read = consumer_.read.load(std::memory_order_relaxed);
    return {slot(read), std::min(there(read, capacity_), mask_ + 1 - (read & mask_))};
  }
  void consume(std::size_t n) { remove(consumer_.read.load(std::memory_order_relaxed), n); }

 private:
  // Distance of two cache lines, because processors fetch them in pairs.
  static constexpr std::size_t apart = 128;

  struct alignas(apart) Producer {
    std::atomic<std::size_t> written{0};
    std::size_t read = 0;  // copy of the consumer's counter
  };
  struct alignas(apart) Consumer {
    std::atomic<std::size_t> read{0};
    std::size_t written = 0;
  };
  // Destroys elements that were moved in but are not visible yet, if moving the next one throws.
  struct Unfinished {
    Ring* ring;
    std::size_t begin, end = begin;
    ~Unfinished() {
      for (; begin != end; ++begin) std::destroy_at(ring->slot(begin));
    }
  };

  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) throw std::invalid_argument("a ring has a capacity of at least 1");
    if (capacity > std::numeric_limits<std::size_t>::max() / 4 / sizeof(T)) throw std::bad_alloc();
    return capacity;
  }

  T* slot(std::size_t k) const { return slots_ + (k & mask_); }

  std::size_t room(std::size_t written, std::size_t wanted) {
    if (capacity_ - (written - producer_.read) < wanted) {
      producer_.read = consumer_.read.load(std::memory_order_acquire);
    }
    return capacity_ - (written - producer_.read);
  }

  std::size_t there(std::size_t read, std::size_t wanted) {
    if (consumer_.written - read < wanted) consumer_.written = producer_.written.load(std::memory_order_acquire);
    return consumer_.written - read;
  }

  void remove(std::size_t read, std::size_t n) {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for (std::size_t k = 0; k < n; ++k) std::destroy_at(slot(read + k));
    }
    consumer_.read.store(read + n, std::memory_order_release);
  }

  // the number of slots is a power of 2, and may exceed the capacity
  const std::size_t capacity_, mask_;
  T* slots_ = nullptr;
  Producer producer_;
  Consumer consumer_;
};

template <typename T>
class BlockingRing {
 public:
  explicit BlockingRing(std::size_t capacity) : ring_(capacity) {}

  std::size_t capacity() const { return ring_.capacity(); }
  std::size_t size() const { return ring_.size(); }

  // Closes the ring; any thread may call it repeatedly. Later pushes fail; the remaining elements
  // can still be taken. No element is lost if the producer closes the ring. If another thread
  // does, a concurrent push may or may not be seen.
  void close() {
    closed_.store(true, std::memory_order_release);
    not_empty_.ring();
    not_full_.ring();
  }
  bool closed() const { return closed_.load(std::memory_order_acquire); }

  // ---- for the producer: fails, without moving the value, if the ring is closed, or if a stop
  // is requested while it is full ----

  bool push(T&& value, const std::stop_token& stop = {}) {
    if (closed()) return false;
    while (!ring_.try_push(std::move(value))) {
      if (!wait_for_room(stop)) return false;
    }
    not_empty_.ring();
    return true;
  }
  bool push(const T& value, const std::stop_token& stop = {}) { return push(T(value), stop); }

  // Like push, but also fails if the ring is full.
  bool try_push(T&& value) {
    if (closed() || !ring_.try_push(std::move(value))) return false;
    not_empty_.ring();
    return true;
  }

  // Moves all values in, in as few steps as possible. Returns their number, which is less than
  // requested only after a close or stop.
  std::size_t push_n(std::span<T> values, const std::stop_token& stop = {}) {
    std::size_t done = 0;
    while (done < values.size() && !closed()) {
      const std::size_t count = ring_.try_push_n(values.subspan(done));
      if (count > 0) not_empty_.ring();
      done += count;
      if (count == 0 && !wait_for_room(stop)) break;
    }
    return done;
  }

  // As in Ring, but waits for at least one slot; empty if closed or stopped.
  std::span<T> writable(const std::stop_token& stop = {}) {
    while (!closed()) {
      if (const std::span<T> slots = ring_.writable(); !slots.empty()) return slots;
      if (!wait_for_room(stop)) break;
    }
    return {};
  }
  void commit(std::size_t n) {
    ring_.commit(n);
    not_empty_.ring();
  }

  // ---- for the consumer: returns none if the ring is closed and empty, or if a stop is
  // requested while it is empty ----

  std::optional<T> pop(const std::stop_token& stop = {}) {
    if (!wait_for_element(stop)) return std::nullopt;
    std::optional<T> value = ring_.try_pop();
    not_full_.ring();
    return value;
  }

  // Like pop, but also returns none if the ring is empty.
  std::optional<T> try_pop() {
    std::optional<T> value = ring_.try_pop();
    if (value) not_full_.ring();
    return value;
  }

  std::span<T> readable(const std::stop_token& stop = {}) {
    if (!wait_for_element(stop)) return {};
    return ring_.readable();
  }
  void consume(std::size_t n) {
    ring_.consume(n);
    not_full_.ring();
  }

 private:
  // Returns false if the ring is closed, or full and stopped.
  bool wait_for_room(const std::stop_token& stop) {
    not_full_.wait([this] { return closed() || ring_.has_room(); }, stop);
    return !closed() && ring_.has_room();
  }

  // After a close, the ring is checked for elements again, because they may have been added just
  // before.
  bool wait_for_element(const std::stop_token& stop) {
    if (ring_.has_element()) return true;
    not_empty_.wait([this] { return ring_.has_element() || closed(); }, stop);
    return ring_.has_element();
  }

  Ring<T> ring_;
  std::atomic<bool> closed_{false};
  // On cache lines of their own: the ringing side reads its bell at every call, the waiting side
  // rarely.
  alignas(128) Doorbell not_empty_;
  alignas(128) Doorbell not_full_;
};

}  // namespace rml

#endif
