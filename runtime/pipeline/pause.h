// One thread stops at a point of its choice until another, which looks at what they share, lets it go on.
#pragma once

#include <atomic>
#include <cstdint>

namespace rml::rt {

class Pause {
 public:
  // Of the one: it stops, in two steps, so that it can tell the other in between.
  void begin() {
    std::uint8_t state = going;
    state_.compare_exchange_strong(state, stopped);
  }
  void wait() const { state_.wait(stopped); }

  // Of the other.
  bool begun() const { return state_.load() == stopped; }
  void end() { leave_in(going); }
  // It does not stop any more.
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
