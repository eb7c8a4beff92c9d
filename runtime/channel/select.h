// Waits until one of several sends and receives is ready, and executes one of those that are
// ready, each with the same probability:
//
//     rml::select(rml::on_recv(lines, [&](rml::Received<std::string> line) { … }),  // none: closed
//                 rml::on_send(numbers, 7, [&] { … }),
//                 rml::otherwise([&] { … }));    // none is ready; without it, select waits
//
// It returns the number of the case that was executed. All values to send are computed
// beforehand, once, even for cases that are not executed; C++ leaves their order unspecified (the
// cases of a Selection are added one by one, in order). Cases of nil channels are never executed;
// if there are no others, select waits for ever. A send on a closed channel throws. `after(time,
// f)` is executed if nothing becomes ready in time, and `on_stop(token, f)` if a stop is
// requested. Selection does the same for a number of cases that is known at run time only.
#ifndef RML_RUNTIME_CHANNEL_SELECT_H
#define RML_RUNTIME_CHANNEL_SELECT_H

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/channel/typed_channel.h"

namespace rml {
namespace channels {

struct Nothing {
  void operator()() const {}
  template <typename T>
  void operator()(const T&) const {}
};

template <typename T, typename F>
struct RecvCase {
  Core* core;
  F handle;
  Received<T> received{};

  Case slot() { return {core, received.room(), false}; }
  void take(const Chosen& chosen) {
    received.set(chosen.outcome);
    handle(std::move(received));
  }
};

template <typename T, typename F>
struct SendCase {
  Core* core;
  T value;
  F handle;

  Case slot() { return {core, std::addressof(value), true}; }
  void take(const Chosen& chosen) {
    checked(chosen, {core, nullptr, true});
    handle();
  }
};

// A case without a channel: another reason to end the wait.
template <typename F>
struct EndCase {
  Outcome outcome;
  F handle;
  Deadline deadline = no_deadline;
  std::stop_token stop{};

  Case slot() { return {}; }
  void take(const Chosen&) { handle(); }
};

template <typename C>
struct EndOf {
  static constexpr bool is = false;
};
template <typename F>
struct EndOf<EndCase<F>> {
  static constexpr bool is = true;
};

}  // namespace channels

template <typename T, typename F = channels::Nothing>
auto on_recv(const RecvChannel<T>& channel, F handle = {}) {
  return channels::RecvCase<T, F>{channels::Access::core(channel), std::move(handle)};
}
template <typename T, typename F = channels::Nothing>
auto on_recv(const Channel<T>& channel, F handle = {}) {
  return channels::RecvCase<T, F>{channels::Access::core(channel), std::move(handle)};
}
template <typename T, typename F = channels::Nothing>
auto on_send(const SendChannel<T>& channel, std::type_identity_t<T> value, F handle = {}) {
  return channels::SendCase<T, F>{channels::Access::core(channel), std::move(value), std::move(handle)};
}
template <typename T, typename F = channels::Nothing>
auto on_send(const Channel<T>& channel, std::type_identity_t<T> value, F handle = {}) {
  return channels::SendCase<T, F>{channels::Access::core(channel), std::move(value), std::move(handle)};
}
template <typename F = channels::Nothing>
auto otherwise(F handle = {}) {
  return channels::EndCase<F>{Outcome::not_ready, std::move(handle)};
}
template <typename Rep, typename Period, typename F = channels::Nothing>
auto after(std::chrono::duration<Rep, Period> time, F handle = {}) {
  return channels::EndCase<F>{Outcome::timed_out, std::move(handle), deadline_in(time)};
}
template <typename Clock, typename Duration, typename F = channels::Nothing>
auto at(std::chrono::time_point<Clock, Duration> time, F handle = {}) {
  return channels::EndCase<F>{Outcome::timed_out, std::move(handle), deadline_of(time)};
}
template <typename F = channels::Nothing>
auto on_stop(std::stop_token stop, F handle = {}) {
  return channels::EndCase<F>{Outcome::stopped, std::move(handle), no_deadline, std::move(stop)};
}

// The handles of the channels must exist until it returns. At most one each of otherwise, after
// or at, and on_stop is allowed.
template <typename... Cases>
std::size_t select(Cases... cases) {
  std::array<channels::Case, sizeof...(Cases)> slots{cases.slot()...};
  channels::Patience patience;
  const auto end = [&]<typename C>(const C& c) {
    if constexpr (channels::EndOf<C>::is) {
      if (c.outcome == Outcome::not_ready) patience.waits = false;
      if (c.outcome == Outcome::timed_out) patience.deadline = c.deadline;
      if (c.outcome == Outcome::stopped) patience.stop = c.stop;
    }
  };
  (end(cases), ...);
  const channels::Chosen chosen = channels::wait(slots, patience);
  channels::checked(chosen, {});
  const bool of_channel = chosen.outcome == Outcome::done || chosen.outcome == Outcome::closed;
  std::size_t k = 0, taken = sizeof...(Cases);
  const auto take = [&]<typename C>(C& c) {
    const std::size_t index = k++;
    if constexpr (channels::EndOf<C>::is) {
      if (of_channel || c.outcome != chosen.outcome || taken < index) return;
    } else {
      if (!of_channel || index != chosen.index) return;
    }
    taken = index;
    c.take(chosen);
  };
  (take(cases), ...);
  return taken;
}

// A list of cases that are added one by one and may be tried repeatedly. Received values are
// stored in variables; a value to send is moved from when its case is executed. Channels and
// variables must outlive the selection.
class Selection {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // Adds a case and returns its number.
  template <typename T>
  std::size_t recv(const RecvChannel<T>& channel, Received<T>& into) {
    return add(
        channels::Access::core(channel), &into, false,
        [](void* variable) { return static_cast<Received<T>*>(variable)->room(); },
        [](void* variable, Outcome outcome) { static_cast<Received<T>*>(variable)->set(outcome); });
  }
  template <typename T>
  std::size_t recv(const Channel<T>& channel, Received<T>& into) {
    return recv(channel.receiver(), into);
  }
  template <typename T>
  std::size_t send(const SendChannel<T>& channel, T& value) {
    return add(
        channels::Access::core(channel), &value, true, [](void* variable) { return variable; }, [](void*, Outcome) {});
  }
  template <typename T>
  std::size_t send(const Channel<T>& channel, T& value) {
    return send(channel.sender(), value);
  }

  // The number of the executed case; none if stopped, timed out or nothing is ready.
  std::size_t wait(const std::stop_token& stop = {}) { return take({true, no_deadline, stop}); }
  std::size_t wait_until(Deadline deadline, const std::stop_token& stop = {}) { return take({true, deadline, stop}); }
  std::size_t try_now() { return take({false, no_deadline, {}}); }

 private:
  using Room = void* (*)(void*);
  using Set = void (*)(void*, Outcome);
  struct Variable {
    void* variable;
    Room room;
    Set set;
  };

  std::size_t add(channels::Core* core, void* variable, bool sends, Room room, Set set) {
    cases_.push_back({core, nullptr, sends});
    variables_.push_back({variable, room, set});
    return cases_.size() - 1;
  }

  std::size_t take(const channels::Patience& patience) {
    for (std::size_t k = 0; k < cases_.size(); ++k) cases_[k].slot = variables_[k].room(variables_[k].variable);
    const channels::Chosen chosen = channels::wait(cases_, patience);
    if (chosen.outcome == Outcome::done || chosen.outcome == Outcome::closed) {
      channels::checked(chosen, cases_[chosen.index]);
      variables_[chosen.index].set(variables_[chosen.index].variable, chosen.outcome);
      return chosen.index;
    }
    channels::checked(chosen, {});
    return none;
  }

  std::vector<channels::Case> cases_;
  std::vector<Variable> variables_;
};

}  // namespace rml

#endif
