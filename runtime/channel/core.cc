// The operations of a single channel; wait.cc has those of a select.
#include "runtime/channel/core.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

namespace rml::channels {

// The holder may have lost its processor. If this thread prevents it from getting one, sleeping
// helps.
void Lock::wait() {
  constexpr int looks = 100, yields = 100;
  for (int k = several_processors() ? 0 : looks;; ++k) {
    if (!held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire)) return;
    if (k < looks) {
      relax();
    } else if (k < looks + yields) {
      sched_yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void NodeQueue::add(Node& node) {
  node.before = last_, node.after = nullptr, node.queued = true;
  (last_ == nullptr ? first_ : last_->after) = &node;
  last_ = &node;
  change_count(1);
}

void NodeQueue::remove(Node& node) {
  (node.before == nullptr ? first_ : node.before->after) = node.after;
  (node.after == nullptr ? last_ : node.after->before) = node.before;
  node.queued = false;
  change_count(UINT32_MAX);
}

namespace {

// At least two, because a full cell must differ from a cell that is free for the next round.
std::size_t slots_of(const ElementType& type, std::size_t capacity) {
  if (capacity > std::numeric_limits<std::size_t>::max() / 16 / (type.size + type.align + 8)) throw std::bad_alloc();
  return std::bit_ceil(std::max<std::size_t>(capacity, 2));
}

std::size_t rounded(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

Core::Core(const ElementType& type, std::size_t capacity, std::string_view name)
    : type_(type),
      capacity_(capacity),
      mask_(slots_of(type, capacity) - 1),
      offset_(std::max(sizeof(std::uint64_t), type.align)),
      stride_(rounded(offset_ + type.size, std::max(sizeof(std::uint64_t), type.align))),
      cell_align_(std::max(alignof(std::uint64_t), type.align)),
      name_(name),
      senders_(capacity != 0),
      receivers_(capacity != 0) {
  if (capacity == 0) return;
  cells_ = static_cast<std::byte*>(::operator new((mask_ + 1) * stride_, std::align_val_t(cell_align_)));
  for (std::size_t k = 0; k <= mask_; ++k) new (cells_ + k * stride_) std::atomic<std::uint64_t>(k);
}

Core::~Core() {
  if (cells_ == nullptr) return;
  if (type_.destroy != nullptr) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire) >> 1;
    for (std::uint64_t k = head_.load(std::memory_order_acquire); k != tail; ++k) type_.destroy(cell_of(k) + offset_);
  }
  ::operator delete(cells_, std::align_val_t(cell_align_));
}

Core* Core::make(const ElementType& type, std::size_t capacity, std::string_view name) {
  return new Core(type, capacity, name);
}

void Core::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  close();
  std::uint32_t inside = blocked_.fetch_or(ending, std::memory_order_acq_rel) | ending;
  for (; inside != ending; inside = blocked_.load(std::memory_order_acquire)) {
    if (Runner* const runner = Runner::of_this_thread()) {
      runner->pass();  // lets other fibers run, because a waiting caller may share the thread
      sched_yield();
    } else {
      futex_wait(blocked_, inside);
    }
  }
  delete this;
}

// The last access to the channel by a call that has waited in it.
void Core::leave() {
  const auto* const word = &blocked_;
  if (blocked_.fetch_sub(1, std::memory_order_acq_rel) == (ending | 1)) futex_wake(word, 1);
}

// Reads the head before and after the tail, so that both belong to the same moment.
std::size_t Core::size() const {
  for (std::uint64_t head = head_.load();;) {
    const std::uint64_t tail = tail_.load() >> 1;
    const std::uint64_t again = head_.load();
    if (again == head) return static_cast<std::size_t>(tail - head);
    head = again;
  }
}

std::string Core::described() const {
  const std::string filled = " (" + std::to_string(size()) + " of " + std::to_string(capacity_) + ")";
  return (name_.empty() ? std::string("a channel") : "channel \"" + name_ + "\"") + filled;
}

bool Core::close() {
  Wakes wakes;
  const std::lock_guard guard(lock_);
  if ((tail_.fetch_or(1, std::memory_order_seq_cst) & 1) != 0) return false;
  settle(wakes);
  return true;
}

// The thread that is about to fill or empty the cell does so soon, unless it has lost its
// processor.
void Core::await_long(std::byte* cell, std::uint64_t sequence) const {
  for (int k = 0; sequence_of(cell).load(std::memory_order_acquire) != sequence; ++k) {
    if (k < 200 && several_processors()) {
      relax();
    } else {
      sched_yield();
    }
  }
}

void Core::move(void* to, void* from) const {
  if (type_.move != nullptr)
    type_.move(to, from);
  else if (type_.size == sizeof(std::uint64_t))  // copies a word directly, which is the most frequent size
    std::memcpy(to, from, sizeof(std::uint64_t));
  else if (type_.size > 0)
    std::memcpy(to, from, type_.size);
}

// push_from and its counterpart for receives do not check whether others wait.
Outcome Core::push_from(void* slot) {
  const Place place = claim_push();
  if (place.outcome != Outcome::done) return place.outcome;
  move(element_of(place), slot);
  sequence_of(place.cell).store(place.position + 1, std::memory_order_release);
  return Outcome::done;
}

Outcome Core::pop_into(void* slot) {
  const Place place = claim_pop();
  if (place.outcome != Outcome::done) return place.outcome;
  move(slot, element_of(place));
  if (type_.move != nullptr && type_.destroy != nullptr) type_.destroy(element_of(place));
  sequence_of(place.cell).store(place.position + mask_ + 1, std::memory_order_release);
  return Outcome::done;
}

Outcome Core::quick(const Case& c) {
  if (queue_of(c.sends).count() != 0) return Outcome::not_ready;
  const Outcome outcome = c.sends ? push_from(c.slot) : pop_into(c.slot);
  if (outcome == Outcome::done && queue_of(!c.sends).count() != 0) settle_others();
  return outcome;
}

// For capacity 0: exchanges the element with the first caller that waits on the other side.
Outcome Core::meet(const Case& c, Wakes& wakes) {
  if (closed()) return Outcome::closed;
  NodeQueue& others = queue_of(!c.sends);
  while (Node* const other = others.front()) {
    if (!reserve(*other)) {
      others.remove(*other);
      continue;
    }
    move(c.sends ? other->slot : c.slot, c.sends ? c.slot : other->slot);
    finish(*other, Outcome::done, wakes);
    return Outcome::done;
  }
  return Outcome::not_ready;
}

Outcome Core::poll(const Case& c, Wakes& wakes) {
  if (!buffered()) return meet(c, wakes);
  settle(wakes);
  if (queue_of(c.sends).front() != nullptr) return Outcome::not_ready;
  const Outcome outcome = c.sends ? push_from(c.slot) : pop_into(c.slot);
  if (outcome == Outcome::done) settle(wakes);
  return outcome;
}

// Buffers change without the lock, so the case may have become ready since it was polled.
void Core::enqueue(Node& node, Wakes& wakes) {
  if (node.shared) blocked_.fetch_add(1, std::memory_order_relaxed);
  queue_of(node.sends).add(node);
  if (buffered()) settle(wakes);
}

void Core::dequeue(Node& node) {
  const std::lock_guard guard(lock_);
  if (node.queued) queue_of(node.sends).remove(node);
}

void Core::finish(Node& node, Outcome outcome, Wakes& wakes) {
  Sleeper& sleeper = *node.sleeper;
  const std::uint32_t index = node.index;
  const bool shared = node.shared;
  queue_of(node.sends).remove(node);
  shared ? sleeper.finish(index, outcome, wakes) : sleeper.finish_alone(outcome, wakes);
}

// Gives elements to waiting receivers and room to waiting senders, and notifies both of a close.
void Core::settle(Wakes& wakes) {
  for (bool any = true; any;) {
    any = settle_receivers(wakes);
    any |= settle_senders(wakes);
  }
}

bool Core::settle_receivers(Wakes& wakes) {
  bool any = false;
  while (Node* const node = receivers_.front()) {
    if (!reserve(*node)) {
      receivers_.remove(*node);
      continue;
    }
    const Outcome outcome = buffered() ? pop_into(node->slot) : closed() ? Outcome::closed : Outcome::not_ready;
    if (outcome == Outcome::not_ready) {
      give_up(*node);
      return any;
    }
    finish(*node, outcome, wakes);
    any = true;
  }
  return any;
}

bool Core::settle_senders(Wakes& wakes) {
  bool any = false;
  while (Node* const node = senders_.front()) {
    if (!reserve(*node)) {
      senders_.remove(*node);
      continue;
    }
    const Outcome outcome = buffered() ? push_from(node->slot) : closed() ? Outcome::closed : Outcome::not_ready;
    if (outcome == Outcome::not_ready) {
      give_up(*node);
      return any;
    }
    finish(*node, outcome, wakes);
    any = true;
  }
  return any;
}

void throw_failure(Outcome outcome, const Core* core) {
  if (outcome == Outcome::closed) {
    throw SendOnClosed(core == nullptr ? "send on a channel that was closed meanwhile"
                                       : "send on " + core->described() + ", which is closed");
  }
  ThreadWatch* const watch = ThreadWatch::of_this_thread();
  throw Deadlock(watch == nullptr ? std::string("all threads wait") : watch->report());
}

void Core::settle_others() {
  Wakes wakes;
  const std::lock_guard guard(lock_);
  settle(wakes);
}

}  // namespace rml::channels
