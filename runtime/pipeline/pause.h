// Stops one thread at a point of its choice, until another thread, which inspects their shared
// data, lets it continue.
#pragma once

#include <atomic>
#include <cstdint>

namespace rml::rt {

class Pause {
 public:
  // For the stopping thread: it stops in two steps, so that it can notify the other thread in
  // between.
  void begin() {
    std::uint8_t state = going;
    state_.compare_exchange_strong(state, stopped);
  }
  void wait() const { state_.wait(stopped); }

  // Called by the inspecting thread: true while the other thread is stopped.
  bool begun() const { return state_.load() == stopped; }
  void end() { leave_in(going); }
  // Later calls of `begin` no longer stop.
  void give_up() { leave_in(given_up); }

 private:
  enum State : std::uint8_t { going, stopped, given_up };
  void leave_in(State state) {
    state_.store(state);
    state_.notify_one();
  }
  std::atomic<std::uint8_t> state_{going};
};

}  // namespace rml::rt
