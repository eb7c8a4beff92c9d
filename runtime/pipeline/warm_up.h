// Decides when reading and writing get threads of their own: after the run has been busy for a
// while.
//
// A run of a few rows ends before that. A run that waits for its peer at each row would gain
// nothing. Neither pays for threads, and their rows are not handed between threads.
#pragma once

#include <chrono>

namespace rml::rt {

#ifndef RML_WARM_UP_MICROSECONDS
#define RML_WARM_UP_MICROSECONDS 1000
#endif

class WarmUp {
 public:
  // `wanted` says whether a thread may be started later.
  explicit WarmUp(bool wanted) : wanted_(wanted) {}

  // The run has waited, so the busy time starts again.
  void waited() { waited_ = true; }
  // True if a thread is now worthwhile. Call it after each row.
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
