// Threads that sleep until a word changes: what the ring and the channels wait with. Linux's futex directly, since
// waits have deadlines, which std::atomic's have not.
#ifndef RML_RUNTIME_CHANNEL_FUTEX_H
#define RML_RUNTIME_CHANNEL_FUTEX_H

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <stop_token>
#include <type_traits>

namespace rml {

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline no_deadline = Deadline::max();

// Far in the future is never.
template <typename Rep, typename Period>
Deadline deadline_in(std::chrono::duration<Rep, Period> time) {
  using Seconds = std::chrono::duration<double>;
  const Deadline now = std::chrono::steady_clock::now();
  if (time <= time.zero()) return now;
  return Seconds(time) < Seconds(no_deadline - now) ? now + std::chrono::ceil<Deadline::duration>(time) : no_deadline;
}

// Of any clock.
template <typename Clock, typename Duration>
Deadline deadline_of(std::chrono::time_point<Clock, Duration> time) {
  if constexpr (std::is_same_v<Deadline, std::chrono::time_point<Clock, Duration>>) {
    return time;
  } else {
    const auto now = Clock::now();
    return deadline_in(time <= now ? decltype(time - now)::zero() : time - now);
  }
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Sleeps while the word has the value, or for no reason. False: the deadline has passed.
inline bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, Deadline deadline = no_deadline) {
  timespec until{};
  if (deadline != no_deadline) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
    until.tv_sec = static_cast<std::time_t>(time / 1'000'000'000);
    until.tv_nsec = static_cast<long>(time % 1'000'000'000);
  }
  // The absolute form, whose clock is the monotonic one, which is the steady clock.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, deadline == no_deadline ? nullptr : &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
  return true;
}

// The word may be gone by now: its address is not read.
inline void futex_wake(const std::atomic<std::uint32_t>* word, int most) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

// Whether waiting without sleeping can be worth it: another thread can run meanwhile.
inline bool several_processors() {
  static const bool several = [] {
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) > 1;
  }();
  return several;
}

// One thread sleeps until a condition holds that others make true.
//
// No wake-up is lost: the sleeper puts 1 into the word, then looks at the condition; the others make it true, then
// look at the word. Both look with a read-modify-write of the word, so one comes first: if the sleeper's, the other one
// sees the 1; if the other's, what it did before is visible to the sleeper, who does not sleep.
class Doorbell {
 public:
  // Returns true when the condition holds; false when the deadline has passed or a stop is asked for, and it does not.
  template <typename Condition>
  bool wait(Condition condition, const std::stop_token& stop = {}, Deadline deadline = no_deadline) {
    if (several_processors()) {
      for (int k = 0; k < spins; ++k) {
        if (condition()) return true;
        relax();
      }
    }
    const auto wake = [this] { ring(); };
    const std::stop_callback<decltype(wake)> on_stop(stop, wake);
    for (bool in_time = true;;) {
      word_.exchange(1, std::memory_order_acq_rel);
      if (condition()) return quiet(true);
      if (!in_time || stop.stop_requested()) return quiet(false);
      in_time = futex_wait(word_, 1, deadline);
    }
  }

  // After the condition was made true.
  void ring() {
    if (word_.fetch_or(0, std::memory_order_acq_rel) == 0) return;
    if (word_.exchange(0, std::memory_order_acq_rel) != 0) futex_wake(&word_, 1);
  }

 private:
  static constexpr int spins = 200;  // some microseconds, about what it takes to sleep and be woken

  bool quiet(bool result) {
    word_.exchange(0, std::memory_order_acq_rel);
    return result;
  }

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace rml

#endif
