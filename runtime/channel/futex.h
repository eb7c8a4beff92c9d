// Waiting for a word to change, for rings and channels. It uses Linux's futex directly, because
// std::atomic has no waits with deadlines.
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

// A time beyond the range of the clock becomes no_deadline.
template <typename Rep, typename Period>
Deadline deadline_in(std::chrono::duration<Rep, Period> time) {
  using Seconds = std::chrono::duration<double>;
  const Deadline now = std::chrono::steady_clock::now();
  if (time <= time.zero()) return now;
  return Seconds(time) < Seconds(no_deadline - now) ? now + std::chrono::ceil<Deadline::duration>(time) : no_deadline;
}

// The deadline for a time of any clock.
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

// Sleeps while the word has the value; may also return early. Returns false if the deadline has
// passed.
inline bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, Deadline deadline = no_deadline) {
  timespec until{};
  if (deadline != no_deadline) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
    until.tv_sec = static_cast<std::time_t>(time / 1'000'000'000);
    until.tv_nsec = static_cast<long>(time % 1'000'000'000);
  }
  // The absolute form uses the monotonic clock, which is that of steady_clock.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, deadline == no_deadline ? nullptr : &until, nullptr,
          FUTEX_BITSET_MATCH_ANY);
  return true;
}

// The word may no longer exist: only its address is used.
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

// True if spinning can help, because another thread can run meanwhile.
inline bool several_processors() {
  static const bool several = [] {
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) > 1;
  }();
  return several;
}

// Lets one thread sleep until a condition holds that other threads make true.
//
// No wake-up is lost. The sleeper writes 1 to the word and then checks the condition; the other
// threads make it true and then check the word. Both checks follow a read-modify-write of the
// word, so one of these comes first. If it is that of the sleeper, the other thread sees the 1.
// If it is that of the other thread, its earlier writes are visible to the sleeper, which then
// does not sleep.
class Doorbell {
 public:
  // Returns true when the condition holds; false if the deadline has passed or a stop was
  // requested, and it does not hold.
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

  // Call it after the condition was made true.
  void ring() {
    if (word_.fetch_or(0, std::memory_order_acq_rel) == 0) return;
    if (word_.exchange(0, std::memory_order_acq_rel) != 0) futex_wake(&word_, 1);
  }

 private:
  static constexpr int spins = 200;  // a few microseconds, about the time to sleep and be woken

  bool quiet(bool result) {
    word_.exchange(0, std::memory_order_acq_rel);
    return result;
  }

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace rml

#endif
