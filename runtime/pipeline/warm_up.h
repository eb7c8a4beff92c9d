// When a run's reading and writing get threads of their own: once it has been busy for a while.
//
// A run of a few rows ends before that, and one that waits for its partner at each row has nothing to gain: neither
// pays for threads, and a row goes through without changing hands.
#pragma once

#include <chrono>

namespace rml::rt {

#ifndef RML_WARM_UP_MICROSECONDS
#define RML_WARM_UP_MICROSECONDS 1000
#endif

class WarmUp {
 public:
  // wanted: nothing forbids threads.
  explicit WarmUp(bool wanted) : wanted_(wanted) {}

  // The run has waited: it begins to be busy anew.
  void waited() { waited_ = true; }
  // To be asked after each row.
  bool over() {
    if (!wanted_) return false;
    const Clock::time_point now = Clock::now();
    if (waited_) since_ = now;
    waited_ = false;
    return now - since_ >= std::chrono::microseconds(RML_WARM_UP_MICROSECONDS);
  }
  void give_up() { wanted_ = false; }

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  bool waited_ = false;
  Clock::time_point since_ = Clock::now();
};

}  // namespace rml::rt
