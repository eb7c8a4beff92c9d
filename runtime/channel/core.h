// What all channels are made of, whatever their elements: channel.h (C), typed_channel.h and select.h (C++) are put on
// top of it.
//
// A channel of capacity n > 0 keeps its elements in a ring of cells between two counters, `tail_` and `head_`, which
// go up only. A sender takes the next place with a compare-and-swap of `tail_`, if tail - head < n, fills the cell and
// marks it full; a receiver does the like with `head_`. No lock is taken as long as no thread has to wait. The lowest
// bit of `tail_` says that the channel is closed, so no element comes after a close. A thread that has a place and
// finds its cell not yet ready waits for the thread that is about to make it so; full and empty are what the counters
// say.
//
// Who has to wait puts a Node for each case of its select (a send or a receive is a select of one case) into the queues
// of the channels, holding the locks of all of them, in the order of their addresses. All its nodes belong to one
// Sleeper, whose states are
//
//     spinning -> sleeping      by its owner, before it sleeps in the kernel; one that shares its thread (a Runner)
//                               begins as sleeping, and waits until it is told, whatever comes first
//     either   -> reserved      by one thread that may have something for it, for a few instructions
//     reserved -> as before     it had nothing after all: another receiver was faster
//              -> done          the element has been moved, or the wait is over: closed, timed out, stopped, deadlock
//
// A sleeper that only one channel can end (one case, no stop, no deadline) need not be reserved: the lock is enough.
// Who reserves a sleeper holds no other one, and waits for nothing but a cell. So a sleeper gets at most one thing, of
// one channel; no other frame is read after `done`.
//
// Invariants, when no call is under way: a node is in the queue of receivers only if the channel is open and empty
// (capacity 0: has no sender in its queue of another select); in that of senders only if it is open and full.
//
// No wake-up is lost. A receiver that will sleep adds itself to `receivers_` (which counts, atomically), and then looks
// at `tail_`: `settle` hands out what is there, to itself too. A sender moves `tail_`, and then looks at the count. All
// four are sequentially consistent: if the sender saw no receiver, the receiver sees the element. For senders the same
// holds with `head_`. Between the look and the sleep nothing is lost either: who has something for the sleeper changes
// its state, and the kernel compares it before it lets it sleep.
//
// Order: elements leave in the order of their places. A new sender that sees others wait queues behind them, and
// `settle` gives places in the order of the queue: a waiting sender is not overtaken by one that comes after it, and
// never overtakes what is in the buffer.
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
  // Makes an element of the bytes `to` out of the one at `from`, which stays, empty, for its owner to destroy. Null:
  // the bytes are copied, and are the element from then on; `from` is none any more.
  void (*move)(void* to, void* from);
  void (*destroy)(void* element);  // null: nothing to do
};

// A send from or a receive into `slot`. Sent elements are moved from; received ones are made in raw memory. No channel:
// never ready.
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
  bool shared = true;  // others than this channel may end its wait: its call looks at the channel once more
};

struct Patience {
  bool waits = true;
  Deadline deadline = no_deadline;
  std::stop_token stop;
};

struct Chosen {
  std::size_t index;  // only of `done` and `closed`
  Outcome outcome;
  bool has_waited = false;  // then the channels may be gone, if their last handles are
};

// Does one case that is ready, each with the same probability; if there is none, waits for one.
Chosen wait(std::span<const Case> cases, const Patience& patience);

// The exception that belongs to `closed` (of a send) or `deadlock`. The channel may be unknown.
[[noreturn]] void throw_failure(Outcome outcome, const Core* core);

// One that wants to know when a thread waits in a channel without a deadline: see go_group.h.
class ThreadWatch {
 public:
  virtual ~ThreadWatch() = default;
  // By the thread: before it waits, holding locks of channels; when it holds none; after it has waited.
  virtual void blocks(Sleeper&, std::span<const Node>, const std::stop_token&) = 0;
  virtual void check() = 0;
  virtual void returns() = 0;
  // By the thread that ends its wait.
  virtual void runs() = 0;
  virtual std::string report() = 0;  // after Outcome::deadlock

  static ThreadWatch*& of_this_thread() { return here_; }

 private:
  static inline constinit thread_local ThreadWatch* here_ = nullptr;
};

// Of a caller that is no thread by itself: see fibers.h. The thread goes on with others while it waits.
class Runner {
 public:
  virtual ~Runner() = default;
  // By the caller: returns when it has been told that the sleeper is done. In time, it ends the wait itself.
  virtual void park(Sleeper&, Deadline) = 0;
  // By any thread, once for each sleeper, when that is done.
  virtual void unpark() = 0;
  // By the caller: others of its thread that can run have their turn.
  virtual void pass() = 0;

  static Runner*& of_this_thread() { return here_; }

 private:
  static inline constinit thread_local Runner* here_ = nullptr;
};

// Wakes that are due when locks have been given back. Only addresses: sleepers of threads may be gone.
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

  bool reserve();  // false: it is done
  void give_up();  // what was reserved
  void finish(std::uint32_t index, Outcome outcome, Wakes& wakes);
  void finish_alone(Outcome outcome, Wakes& wakes);  // by the only one that can
  void block(const Patience& patience, bool looks_out);
  void end(Outcome outcome);  // unless it is done
  bool is_done() const { return state.load(std::memory_order_acquire) == done; }

  Runner* const runner = Runner::of_this_thread();
  std::atomic<std::uint32_t> state{runner == nullptr ? spinning : sleeping};
  std::uint32_t was = spinning;  // before it was reserved
  std::uint32_t chosen = 0;
  Outcome outcome = Outcome::not_ready;
  ThreadWatch* watch = nullptr;
};

// Held for some instructions only. Who finds it held looks again, more and more seldom: giving it back is a mere store.
class Lock {
 public:
  void lock() {
    if (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  // The lock may be gone once it is free.
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait();
  std::atomic<bool> held_{false};
};

class NodeQueue {
 public:
  // Without one that looks at the count while it holds no lock, changing it is cheap.
  explicit NodeQueue(bool looked_at) : looked_at_(looked_at) {}
  Node* front() const { return first_; }
  void add(Node&);
  void remove(Node&);
  // How many; read without the lock too.
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

// Lives as long as it has references; made by `make`.
class Core {
 public:
  static Core* make(const ElementType& type, std::size_t capacity, std::string_view name);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // The last one closes it, wakes those who wait in it, and waits until they have left.
  void release();

  std::size_t capacity() const { return capacity_; }
  std::size_t size() const;
  std::size_t waiting() const { return senders_.count() + receivers_.count(); }
  bool closed() const { return (tail_.load(std::memory_order_acquire) & 1) != 0; }
  const std::string& name() const { return name_; }
  const ElementType& type() const { return type_; }
  std::string described() const;  // "channel "name" (2 of 4)"

  // False: it was closed before.
  bool close();

  // ---- Without a lock, of buffered channels: a place for the caller to fill or to empty. ----

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
  // What says that no send, or no receive, has become possible meanwhile.
  std::uint64_t version(bool sends) const { return sends ? head_.load() : tail_.load(); }

  // ---- For `wait`. ----

  Outcome quick(const Case&);  // without the lock; not_ready also if others wait
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

  static constexpr std::size_t apart = 128;  // processors fetch lines in pairs
  static constexpr std::uint32_t ending = 1u << 31;

  const ElementType type_;
  const std::size_t capacity_, mask_, offset_, stride_, cell_align_;
  std::byte* cells_ = nullptr;
  const std::string name_;

  alignas(apart) std::atomic<std::uint64_t> tail_{0};  // 2 × places given to senders + closed
  std::atomic<std::uint64_t> seen_head_{0};            // not above head_
  alignas(apart) std::atomic<std::uint64_t> head_{0};  // places given to receivers
  std::atomic<std::uint64_t> seen_tail_{0};            // not above tail_ / 2
  alignas(apart) NodeQueue senders_;                   // changed under the lock
  NodeQueue receivers_;
  alignas(apart) Lock lock_;
  std::atomic<std::uint32_t> blocked_{0};  // shared nodes whose calls have not left; `ending`
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
