// Channels between threads, as in Go, except that elements are moved.
//
//     rml::Channel<std::string> c = rml::make_channel<std::string>(4, "lines");
//     c.send("first");                        // waits while the channel is full
//     if (auto line = c.recv()) use(*line);   // waits while it is empty; none: closed and empty
//     for (std::string& line : c) use(line);  // until it is closed and empty
//     c.close();
//
// A Channel is a handle. Copies refer to the same channel, which exists as long as it has
// handles; each thread has a handle of its own. When the last handle is destroyed, the channel is
// closed. Calls of other threads that wait in it (through a handle that they share) return as
// after a close, before the destruction of the handle is complete. Remaining elements are
// destroyed. A channel that contains a handle of itself is never destroyed.
//
// SendChannel is a handle that can only send and close, and RecvChannel one that can only
// receive; a Channel converts to both. A default-constructed handle is nil: its sends and
// receives wait for ever.
//
// Every call that may wait takes a stop token; calls with `_for` and `_until` have a time limit.
// A send that gives up returns false and leaves the value unchanged. A send on a closed channel
// and a second close throw.
//
// Memory order: operations before a send are visible to the receiver of the element. Operations
// before the k-th receive are visible after send number k + capacity. With capacity 0, operations
// before a receive are visible when the send returns. Operations before a close are visible to a
// thread that observes the close.
#ifndef RML_RUNTIME_CHANNEL_TYPED_CHANNEL_H
#define RML_RUNTIME_CHANNEL_TYPED_CHANNEL_H

#include <cstddef>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/channel/core.h"

namespace rml {

// The result of a receive: a value, or the reason why there is none. `auto [value, ok] =
// c.recv()` gives T() if there is no value.
template <typename T>
class Received {
 public:
  Received() {}  // not defaulted, because the value is constructed only if one was received
  explicit Received(Outcome outcome) : outcome_(outcome) {}
  Received(Received&& other) noexcept : outcome_(other.outcome_) {
    if (other.ok()) std::construct_at(std::addressof(value_), std::move(other.value_));
  }
  Received& operator=(Received&& other) noexcept {
    if (this == &other) return *this;
    reset(Outcome::not_ready);
    if (other.ok()) std::construct_at(std::addressof(value_), std::move(other.value_));
    outcome_ = other.outcome_;
    return *this;
  }
  ~Received() { reset(Outcome::not_ready); }

  bool ok() const { return outcome_ == Outcome::done; }
  explicit operator bool() const { return ok(); }
  Outcome outcome() const { return outcome_; }
  bool closed() const { return outcome_ == Outcome::closed; }

  T& operator*() & { return value_; }
  const T& operator*() const& { return value_; }
  T&& operator*() && { return std::move(value_); }
  T* operator->() { return std::addressof(value_); }
  const T* operator->() const { return std::addressof(value_); }
  T value_or_zero() && { return ok() ? T(std::move(value_)) : T(); }

  template <std::size_t I>
  auto get() && {
    if constexpr (I == 0) {
      return std::move(*this).value_or_zero();
    } else {
      return ok();
    }
  }
  template <std::size_t I>
  auto get() const& {
    if constexpr (I == 0) {
      return ok() ? value_ : T();
    } else {
      return ok();
    }
  }

  // For code that constructs the value in place: its address, and the notification that it
  // exists.
  void* room() {
    reset(Outcome::not_ready);
    return std::addressof(value_);
  }
  void set(Outcome outcome) { outcome_ = outcome; }

 private:
  void reset(Outcome outcome) {
    if (ok()) std::destroy_at(std::addressof(value_));
    outcome_ = outcome;
  }

  union {
    T value_;
  };
  Outcome outcome_ = Outcome::not_ready;
};

namespace channels {

template <typename T>
const ElementType& element_type() {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "elements of channels are moved without exceptions");
  static constexpr bool bytes = std::is_trivially_copyable_v<T>;
  static constexpr ElementType type{
      sizeof(T), alignof(T),
      bytes ? nullptr : +[](void* to, void* from) { new (to) T(std::move(*static_cast<T*>(from))); },
      bytes ? nullptr : +[](void* element) { std::destroy_at(static_cast<T*>(element)); }};
  return type;
}

inline Outcome checked(const Chosen& chosen, const Case& c) {
  if ((c.sends && chosen.outcome == Outcome::closed) || chosen.outcome == Outcome::deadlock) {
    throw_failure(chosen.outcome, chosen.has_waited ? nullptr : c.core);
  }
  return chosen.outcome;
}

struct Access;

// The part that all handles have in common.
class Handle {
 public:
  Handle() = default;
  explicit Handle(Core* core) : core_(core) {}  // takes over the reference
  Handle(const Handle& other) : core_(other.core_) {
    if (core_ != nullptr) core_->retain();
  }
  Handle(Handle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Handle() {
    if (core_ != nullptr) core_->release();
  }

  bool is_nil() const { return core_ == nullptr; }
  explicit operator bool() const { return core_ != nullptr; }
  std::size_t len() const { return core_ == nullptr ? 0 : core_->size(); }
  std::size_t cap() const { return core_ == nullptr ? 0 : core_->capacity(); }
  // number of waiting sends and receives
  std::size_t waiting() const { return core_ == nullptr ? 0 : core_->waiting(); }
  std::string_view name() const { return core_ == nullptr ? std::string_view("nil") : core_->name(); }

  // True for handles of the same channel, whatever their direction.
  friend bool operator==(const Handle& a, const Handle& b) { return a.core_ == b.core_; }

 protected:
  friend struct Access;
  Core* core_ = nullptr;
};

struct Access {
  static Core* core(const Handle& handle) { return handle.core_; }
};

// The calls copy the pointer first, because the handle may be destroyed while they wait.
template <typename Self, typename T>
class Sends {
 public:
  // Moves the value into the channel. Returns false if a stop was requested.
  bool send(T&& value, const std::stop_token& stop = {}) const { return send_in(value, {true, no_deadline, stop}); }
  bool send(const T& value, const std::stop_token& stop = {}) const
    requires std::is_copy_constructible_v<T>
  {
    return send(T(value), stop);
  }

  // Returns false if it would have to wait.
  bool try_send(T&& value) const { return send_in(value, {false, no_deadline, {}}); }
  bool try_send(const T& value) const
    requires std::is_copy_constructible_v<T>
  {
    return try_send(T(value));
  }

  template <typename Clock, typename Duration>
  bool send_until(T&& value, std::chrono::time_point<Clock, Duration> time, const std::stop_token& stop = {}) const {
    return send_in(value, {true, deadline_of(time), stop});
  }
  template <typename Rep, typename Period>
  bool send_for(T&& value, std::chrono::duration<Rep, Period> time, const std::stop_token& stop = {}) const {
    return send_in(value, {true, deadline_in(time), stop});
  }

  // Wakes all threads that wait in the channel: receivers get the remaining elements, then none;
  // senders throw.
  void close() const {
    Core* const core = Access::core(static_cast<const Self&>(*this));
    if (core == nullptr) throw CloseOfNil("close of a nil channel");
    if (!core->close()) throw CloseOfClosed("close of " + core->described() + ", which is closed");
  }

 private:
  bool send_in(T& value, const Patience& patience) const {
    Core* const core = Access::core(static_cast<const Self&>(*this));
    if (core != nullptr && core->buffered() && !core->senders_wait()) {
      const Core::Place place = core->claim_push();
      if (place.outcome == Outcome::done) {
        new (core->element_of(place)) T(std::move(value));
        core->end_push(place);
        return true;
      }
      if (place.outcome == Outcome::closed) throw_failure(Outcome::closed, core);
      if (!patience.waits) return false;
    }
    const Case c{core, std::addressof(value), true};
    return checked(wait({&c, 1}, patience), c) == Outcome::done;
  }
};

template <typename Self, typename T>
class Receives {
 public:
  Received<T> recv(const std::stop_token& stop = {}) const { return recv_in({true, no_deadline, stop}); }
  Received<T> try_recv() const { return recv_in({false, no_deadline, {}}); }
  template <typename Clock, typename Duration>
  Received<T> recv_until(std::chrono::time_point<Clock, Duration> time, const std::stop_token& stop = {}) const {
    return recv_in({true, deadline_of(time), stop});
  }
  template <typename Rep, typename Period>
  Received<T> recv_for(std::chrono::duration<Rep, Period> time, const std::stop_token& stop = {}) const {
    return recv_in({true, deadline_in(time), stop});
  }

  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = T;

    Iterator(const Self& channel, const std::stop_token& stop) : channel_(&channel), stop_(stop) { ++*this; }
    T& operator*() const { return *current_; }
    T* operator->() const { return std::addressof(*current_); }
    Iterator& operator++() {
      current_ = channel_->recv(stop_);
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return !it.current_.ok(); }

   private:
    const Self* channel_;
    std::stop_token stop_;
    mutable Received<T> current_;
  };

  // All elements, until the channel is closed and empty or a stop is requested.
  Iterator begin() const { return {static_cast<const Self&>(*this), {}}; }
  std::default_sentinel_t end() const { return {}; }

  class Range {
   public:
    Range(const Self& channel, std::stop_token stop) : channel_(channel), stop_(std::move(stop)) {}
    Iterator begin() const { return {channel_, stop_}; }
    std::default_sentinel_t end() const { return {}; }

   private:
    Self channel_;
    std::stop_token stop_;
  };
  Range until(std::stop_token stop) const { return {static_cast<const Self&>(*this), std::move(stop)}; }

 private:
  Received<T> recv_in(const Patience& patience) const {
    Core* const core = Access::core(static_cast<const Self&>(*this));
    Received<T> result;
    if (core != nullptr && core->buffered() && !core->receivers_wait()) {
      const Core::Place place = core->claim_pop();
      if (place.outcome == Outcome::done) {
        T* const element = static_cast<T*>(core->element_of(place));
        new (result.room()) T(std::move(*element));
        std::destroy_at(element);
        core->end_pop(place);
      }
      result.set(place.outcome);
      if (place.outcome != Outcome::not_ready || !patience.waits) return result;
    }
    const Case c{core, result.room(), false};
    result.set(checked(wait({&c, 1}, patience), c));
    return result;
  }
};

}  // namespace channels

template <typename T>
class SendChannel : public channels::Handle, public channels::Sends<SendChannel<T>, T> {
 public:
  using Handle::Handle;
};

template <typename T>
class RecvChannel : public channels::Handle, public channels::Receives<RecvChannel<T>, T> {
 public:
  using Handle::Handle;
};

template <typename T>
class Channel : public channels::Handle,
                public channels::Sends<Channel<T>, T>,
                public channels::Receives<Channel<T>, T> {
 public:
  using Handle::Handle;

  SendChannel<T> sender() const { return SendChannel<T>(reference()); }
  RecvChannel<T> receiver() const { return RecvChannel<T>(reference()); }
  operator SendChannel<T>() const { return sender(); }    // NOLINT: as in Go, without a word
  operator RecvChannel<T>() const { return receiver(); }  // NOLINT

 private:
  channels::Core* reference() const {
    if (core_ != nullptr) core_->retain();
    return core_;
  }
};

// Capacity 0: a send waits for a receive and hands the value over.
template <typename T>
Channel<T> make_channel(std::size_t capacity = 0, std::string_view name = {}) {
  return Channel<T>(channels::Core::make(channels::element_type<T>(), capacity, name));
}

}  // namespace rml

template <typename T>
struct std::tuple_size<rml::Received<T>> : std::integral_constant<std::size_t, 2> {};
template <typename T>
struct std::tuple_element<0, rml::Received<T>> {
  using type = T;
};
template <typename T>
struct std::tuple_element<1, rml::Received<T>> {
  using type = bool;
};

#endif
