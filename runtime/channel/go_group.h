// Starts threads that belong together by `go`; `join` waits for all of them and rethrows the
// first exception.
//
//     rml::GoGroup group;
//     group.go("reader", [lines] { … });   // the thread has its own copy of the captured values
//     group.join();
//
// A function may take a std::stop_token: that of the group, which requests a stop at the first
// exception.
//
// With deadlock detection, the group notices when all its threads, including the one that made
// it, wait in channels without a deadline (or have ended, or wait in `join`). If no other thread
// has a handle of their channels, nothing can wake them, so each call throws a Deadlock, which
// says which thread waits for which channel. Detection is off by default, and on if the
// environment has RML_DETECT_DEADLOCKS=1. The thread that makes a group must destroy it; several
// groups are destroyed in reverse order.
#ifndef RML_RUNTIME_CHANNEL_GO_GROUP_H
#define RML_RUNTIME_CHANNEL_GO_GROUP_H

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/channel/core.h"

namespace rml {

class GoGroup {
 public:
  struct Failure {
    std::string thread;
    std::exception_ptr error;
  };

  // Runs functions concurrently by other means than threads; see fibers.h.
  class Executor {
   public:
    virtual ~Executor() = default;
    virtual void start(std::function<void()> work) = 0;
    virtual void wait() = 0;  // returns when all functions have ended
  };

  static bool detects_by_default();
  explicit GoGroup(bool detect_deadlocks = detects_by_default()) : GoGroup(nullptr, detect_deadlocks) {}
  explicit GoGroup(std::unique_ptr<Executor> executor, bool detect_deadlocks = detects_by_default());
  ~GoGroup();  // waits until all functions have ended
  GoGroup(const GoGroup&) = delete;
  GoGroup& operator=(const GoGroup&) = delete;

  template <typename F>
    requires std::is_invocable_v<F&> || std::is_invocable_v<F&, std::stop_token>
  void go(std::string name, F f) {
    // The thread destroys the function after its work and before it counts as ended, because the
    // function may own handles of channels.
    auto own = std::make_shared<F>(std::move(f));
    if constexpr (std::is_invocable_v<F&, std::stop_token>) {
      start(std::move(name),
            [own = std::move(own), stop = stop_token()]() mutable { (*std::exchange(own, {}))(stop); });
    } else {
      start(std::move(name), [own = std::move(own)]() mutable { (*std::exchange(own, {}))(); });
    }
  }
  template <typename F>
    requires std::is_invocable_v<F&> || std::is_invocable_v<F&, std::stop_token>
  void go(F f) {
    go(std::string(), std::move(f));
  }

  // Waits for all functions, including those started meanwhile, and then throws the first
  // exception, if any.
  void join();

  std::stop_token stop_token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }

  // The failures in the order of time; complete after `join`.
  std::vector<Failure> failures() const;
  std::string report() const;  // all failures as text, one line each: "name: message"

 private:
  class Member;

  void start(std::string name, std::function<void()> work);
  void wait_for_all();
  void run(Member&, const std::function<void()>& work);
  void check();

  // The upper half counts the threads that have not ended, the lower half those that wait. If the
  // two are equal, all wait.
  static constexpr std::uint64_t one_alive = std::uint64_t{1} << 32, one_waiting = 1;
  bool all_wait() const;

  const bool detects_;
  std::atomic<std::uint64_t> counts_{one_alive};
  std::stop_source stop_;
  mutable std::mutex mutex_;
  // All members; the first one is the thread that made the group.
  std::vector<std::unique_ptr<Member>> members_;
  std::size_t joined_ = 1;
  std::vector<Failure> failures_;
  channels::ThreadWatch* before_ = nullptr;
  const std::unique_ptr<Executor> executor_;  // runs the functions; null: each function has a thread
};

}  // namespace rml

#endif
