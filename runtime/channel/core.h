// The implementation of channels, independent of their elements. channel.h (C), typed_channel.h
// and select.h (C++) are interfaces to it.
//
// A channel of capacity n > 0 keeps its elements in a ring of cells between two counters, `tail_`
// and `head_`, which only increase. A sender takes the next place by a compare-and-swap of
// `tail_`, if tail - head < n, fills the cell and marks it as full. A receiver does the same with
// `head_`. No lock is taken unless a thread has to wait. The lowest bit of `tail_` marks the
// channel as closed, so no element is added after a close. If a thread has a place but its cell
// is not ready, it waits for the thread that is about to make it ready. Only the counters decide
// whether the channel is full or empty.
//
// A thread that has to wait adds a Node for each case of its select to the queues of the channels
// (a send or a receive is a select of one case). It does so while it holds the locks of all of
// them, taken in the order of their addresses. All its nodes belong to one Sleeper, which has
// these states:
//
//     spinning -> sleeping      by its owner, before it sleeps in the kernel; a sleeper that
//                               shares its thread (a Runner) starts as sleeping, and always waits
//                               for a notification
//     either   -> reserved      by one thread that may complete it, for a few instructions
//     reserved -> as before     it could not be completed: another receiver was faster
//              -> done          the element was moved, or the wait is over: closed, timed out,
//                               stopped, deadlock
//
// A sleeper that only one channel can complete (one case, no stop, no deadline) need not be
// reserved; the lock suffices. A thread that reserves a sleeper holds no other reservation, and
// waits for nothing but a cell. So a sleeper is completed at most once, by one channel, and its
// frame is not read after `done`.
//
// Invariants while no call is in progress: a node is in the queue of receivers only if the
// channel is open and empty (capacity 0: and the queue of senders has no sender of another
// select). A node is in the queue of senders only if the channel is open and full.
//
// No wake-up is lost. A receiver that will sleep adds itself to `receivers_`, which counts
// atomically, and then reads `tail_`: `settle` gives elements to waiting receivers, including
// itself. A sender increments `tail_` and then reads the count. All four operations are
// sequentially consistent, so if the sender saw no receiver, the receiver sees the element. The
// same holds for senders with `head_`. Nothing is lost between this check and the sleep either: a
// thread that completes the sleeper changes its state, and the kernel compares the state before
// the thread sleeps.
//
// Order: elements leave in the order of their places. A new sender joins the queue if others
// wait, and `settle` gives places in the order of the queue. So a waiting sender is not overtaken
// by later senders, and does not overtake elements in the buffer.
#ifndef RML_RUNTIME_CHANNEL_CORE_H
#define RML_RUNTIME_CHANNEL_CORE_H

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

#include "runtime/channel/futex.h"

namespace rml {

enum class Outcome : std::uint8_t { done, closed, not_ready, timed_out, stopped, deadlock };

class ChannelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class SendOnClosed : public ChannelError {
 public:
  using ChannelError::ChannelError;
};
class CloseOfClosed : public ChannelError {
 public:
  using ChannelError::ChannelError;
};
class CloseOfNil : public ChannelError {
 public:
  using ChannelError::ChannelError;
};
class Deadlock : public ChannelError {
 public:
  using ChannelError::ChannelError;
};

namespace channels {

class Core;
struct Sleeper;

struct ElementType {
  std::size_t size, align;
  // Makes an element at `to` from the one at `from`, whose owner must still destroy the
  // moved-from element. Null: the bytes are copied and become the element; `from` is no longer an
  // element.
  void (*move)(void* to, void* from);
  void (*destroy)(void* element);  // destroys an element; null: nothing to destroy
};

// A send from `slot` or a receive into it. A send moves from the element; a receive makes it in
// raw memory. A case without a channel is never ready.
struct Case {
  Core* core = nullptr;
  void* slot = nullptr;
  bool sends = false;
};

struct Node {
  Core* core = nullptr;
  Sleeper* sleeper = nullptr;
  void* slot = nullptr;
  Node *before = nullptr, *after = nullptr;
  std::uint32_t index = 0;
  bool sends = false, queued = false;
  // others than this channel may end the wait; the call then uses the channel again before it
  // returns
  bool shared = true;
};

struct Patience {
  bool waits = true;
  Deadline deadline = no_deadline;
  std::stop_token stop;
};

struct Chosen {
  std::size_t index;  // the chosen case; only valid if the outcome is `done` or `closed`
  Outcome outcome;
  bool has_waited = false;  // after a wait, channels may be destroyed if their last handles are
};

// Executes one of the cases that are ready, each with the same probability. If none is ready,
// waits for one.
Chosen wait(std::span<const Case> cases, const Patience& patience);

// Throws the exception for `closed` (of a send) or `deadlock`. core may be null.
[[noreturn]] void throw_failure(Outcome outcome, const Core* core);

// Observes the threads that wait in channels without a deadline; see go_group.h.
class ThreadWatch {
 public:
  virtual ~ThreadWatch() = default;
  // Called by the thread: before it waits, while it holds locks of channels; when it holds none;
  // after the wait.
  virtual void blocks(Sleeper&, std::span<const Node>, const std::stop_token&) = 0;
  virtual void check() = 0;
  virtual void returns() = 0;
  // Called by the thread that ends the wait.
  virtual void runs() = 0;
  virtual std::string report() = 0;  // the text that follows Outcome::deadlock in a message

  static ThreadWatch*& of_this_thread() { return here_; }

 private:
  static inline constinit thread_local ThreadWatch* here_ = nullptr;
};

// A caller that shares its thread with others, which run while it waits; see fibers.h.
class Runner {
 public:
  virtual ~Runner() = default;
  // Called by the caller: returns after unpark was called for the sleeper. At the deadline it
  // ends the wait itself.
  virtual void park(Sleeper&, Deadline) = 0;
  // Called by any thread, once for each sleeper, when it is done.
  virtual void unpark() = 0;
  // Called by the caller: lets the others of its thread that are ready run.
  virtual void pass() = 0;

  static Runner*& of_this_thread() { return here_; }

 private:
  static inline constinit thread_local Runner* here_ = nullptr;
};

// Wake-ups to be done after locks are released. It only keeps addresses, because sleepers of
// threads may be gone by then.
class Wakes {
 public:
  Wakes() = default;
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;
  ~Wakes() { flush(); }
  void add(const std::atomic<std::uint32_t>* word, Runner* runner) {
    if (count_ == most) flush();
    wakes_[count_++] = {word, runner};
  }
  void flush() {
    while (count_ > 0) {
      const auto [word, runner] = wakes_[--count_];
      if (runner != nullptr)
        runner->unpark();
      else
        futex_wake(word, 1);
    }
  }

 private:
  static constexpr std::size_t most = 16;
  struct {
    const std::atomic<std::uint32_t>* word;
    Runner* runner;
  } wakes_[most];
  std::size_t count_ = 0;
};

struct Sleeper {
  static constexpr std::uint32_t spinning = 0, sleeping = 1, reserved = 2, done = 3;

  bool reserve();  // returns false if the sleeper is done already
  void give_up();  // ends the reservation
  void finish(std::uint32_t index, Outcome outcome, Wakes& wakes);
  void finish_alone(Outcome outcome, Wakes& wakes);  // may be called only by the only thread that can complete it
  void block(const Patience& patience, bool looks_out);
  void end(Outcome outcome);  // ends the wait, unless it is done already
  bool is_done() const { return state.load(std::memory_order_acquire) == done; }

  Runner* const runner = Runner::of_this_thread();
  std::atomic<std::uint32_t> state{runner == nullptr ? spinning : sleeping};
  std::uint32_t was = spinning;  // state before the reservation
  std::uint32_t chosen = 0;
  Outcome outcome = Outcome::not_ready;
  ThreadWatch* watch = nullptr;
};

// A lock that is held for a few instructions only. Waiting threads poll it in growing intervals,
// so that releasing it is a plain store.
class Lock {
 public:
  void lock() {
    if (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  // The lock may be destroyed as soon as it is free.
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait();
  std::atomic<bool> held_{false};
};

class NodeQueue {
 public:
  // looked_at: another thread reads the count without the lock, so it must be changed atomically.
  // Otherwise changes are cheaper.
  explicit NodeQueue(bool looked_at) : looked_at_(looked_at) {}
  Node* front() const { return first_; }
  void add(Node&);
  void remove(Node&);
  // Returns the number of nodes. It may be read without the lock.
  std::uint32_t count() const { return count_.load(std::memory_order_seq_cst); }

 private:
  void change_count(std::uint32_t by) {
    if (looked_at_)
      count_.fetch_add(by, std::memory_order_seq_cst);
    else
      count_.store(count_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  Node *first_ = nullptr, *last_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
  const bool looked_at_;
};

// The state of a channel. It is reference-counted and created by `make`.
class Core {
 public:
  static Core* make(const ElementType& type, std::size_t capacity, std::string_view name);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // The last release closes the channel, wakes the threads that wait in it, and waits until they
  // have left.
  void release();

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const;
  std::size_t waiting() const { return senders_.count() + receivers_.count(); }
  bool closed() const { return (tail_.load(std::memory_order_acquire) & 1) != 0; }
  const std::string& name() const { return name_; }
  const ElementType& type() const { return type_; }
  std::string described() const;  // text such as: channel "name" (2 of 4)

  // Closes the channel. Returns false if it was closed before.
  bool close();

  // ---- without a lock, for buffered channels: a place that the caller fills or empties ----

  struct Place {
    Outcome outcome;
    std::uint64_t position = 0;
    std::byte* cell = nullptr;
  };
  bool buffered() const { return capacity_ != 0; }
  bool senders_wait() const { return senders_.count() != 0; }
  bool receivers_wait() const { return receivers_.count() != 0; }
  Place claim_push();
  Place claim_pop();
  void* element_of(const Place& place) const { return place.cell + offset_; }
  void end_push(const Place& place) {
    sequence_of(place.cell).store(place.position + 1, std::memory_order_release);
    if (receivers_wait()) settle_others();
  }
  void end_pop(const Place& place) {
    sequence_of(place.cell).store(place.position + mask_ + 1, std::memory_order_release);
    if (senders_wait()) settle_others();
  }
  // A number that is unchanged if no send, or no receive, has become possible meanwhile.
  std::uint64_t version(bool sends) const { return sends ? head_.load() : tail_.load(); }

  // ---- for `wait` ----

  Outcome quick(const Case&);  // tries the case without the lock; also returns not_ready if others wait
  Lock& lock() { return lock_; }
  Outcome poll(const Case&, Wakes&);
  void enqueue(Node&, Wakes&);
  void dequeue(Node&);
  void leave();

 private:
  Core(const ElementType& type, std::size_t capacity, std::string_view name);
  ~Core();

  static std::atomic<std::uint64_t>& sequence_of(std::byte* cell) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(cell);
  }
  std::byte* cell_of(std::uint64_t position) const { return cells_ + (position & mask_) * stride_; }
  void await(std::byte* cell, std::uint64_t sequence) const {
    if (sequence_of(cell).load(std::memory_order_acquire) != sequence) await_long(cell, sequence);
  }
  void await_long(std::byte* cell, std::uint64_t sequence) const;
  void move(void* to, void* from) const;
  Outcome push_from(void* slot);
  Outcome pop_into(void* slot);
  Outcome meet(const Case&, Wakes&);
  void settle(Wakes&);
  bool settle_receivers(Wakes&);
  bool settle_senders(Wakes&);
  void settle_others();
  static bool reserve(Node& node) { return !node.shared || node.sleeper->reserve(); }
  static void give_up(Node& node) {
    if (node.shared) node.sleeper->give_up();
  }
  void finish(Node&, Outcome, Wakes&);
  NodeQueue& queue_of(bool sends) { return sends ? senders_ : receivers_; }

  // Bytes between members that different threads write; processors fetch cache lines in pairs.
  static constexpr std::size_t apart = 128;
  static constexpr std::uint32_t ending = 1u << 31;

  const ElementType type_;
  const std::size_t capacity_, mask_, offset_, stride_, cell_align_;
  std::byte* cells_ = nullptr;
  const std::string name_;

  // 2 × number of places given to senders, plus 1 if closed
  alignas(apart) std::atomic<std::uint64_t> tail_{0};
  std::atomic<std::uint64_t> seen_head_{0};            // earlier value of head_
  alignas(apart) std::atomic<std::uint64_t> head_{0};  // number of places given to receivers
  std::atomic<std::uint64_t> seen_tail_{0};            // earlier value of tail_ / 2
  alignas(apart) NodeQueue senders_;                   // the waiting senders; changed under the lock
  NodeQueue receivers_;
  alignas(apart) Lock lock_;
  // number of shared nodes whose calls have not left, plus `ending`
  std::atomic<std::uint32_t> blocked_{0};
  std::atomic<std::size_t> references_{1};
};

inline Core::Place Core::claim_push() {
  const auto capacity = static_cast<std::int64_t>(capacity_);
  std::uint64_t tail = tail_.load(std::memory_order_relaxed);
  for (;;) {
    if ((tail & 1) != 0) return {Outcome::closed};
    const std::uint64_t position = tail >> 1;
    if (static_cast<std::int64_t>(position - seen_head_.load(std::memory_order_acquire)) >= capacity) {
      const std::uint64_t head = head_.load(std::memory_order_seq_cst);
      seen_head_.store(head, std::memory_order_release);
      if (static_cast<std::int64_t>(position - head) >= capacity) return {Outcome::not_ready};
    }
    if (tail_.compare_exchange_weak(tail, tail + 2, std::memory_order_seq_cst, std::memory_order_relaxed)) {
      const Place place{Outcome::done, position, cell_of(position)};
      await(place.cell, position);
      return place;
    }
  }
}

inline Core::Place Core::claim_pop() {
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  for (;;) {
    if (static_cast<std::int64_t>(seen_tail_.load(std::memory_order_acquire) - head) <= 0) {
      const std::uint64_t tail = tail_.load(std::memory_order_seq_cst);
      seen_tail_.store(tail >> 1, std::memory_order_release);
      if (static_cast<std::int64_t>((tail >> 1) - head) <= 0) {
        return {(tail & 1) != 0 ? Outcome::closed : Outcome::not_ready};
      }
    }
    if (head_.compare_exchange_weak(head, head + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
      const Place place{Outcome::done, head, cell_of(head)};
      await(place.cell, head + 1);
      return place;
    }
  }
}

}  // namespace channels
}  // namespace rml

#endif
