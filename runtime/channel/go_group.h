// Threads that belong together: `go` starts one, `join` waits for all and passes the first exception on.
//
//     rml::GoGroup group;
//     group.go("reader", [lines] { … });   // the thread has its own copy of what is captured by value
//     group.join();
//
// A function that takes a std::stop_token gets the group's: it asks for a stop at the first exception.
//
// With detection of deadlocks the group knows when all its threads, among them the one that made it, wait in channels
// without a deadline (or have ended, or wait in `join`). No thread can wake them then, if no other thread has a handle
// of their channels, so each is woken by a Deadlock, which says who waits for what. Off by default, on if the
// environment has RML_DETECT_DEADLOCKS=1. The thread that makes a group must destroy it, the last made first.
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

  // Runs functions side by side in another way than by threads: see fibers.h.
  class Executor {
   public:
    virtual ~Executor() = default;
    virtual void start(std::function<void()> work) = 0;
    virtual void wait() = 0;  // until all have ended
  };

  static bool detects_by_default();
  explicit GoGroup(bool detect_deadlocks = detects_by_default()) : GoGroup(nullptr, detect_deadlocks) {}
  explicit GoGroup(std::unique_ptr<Executor> executor, bool detect_deadlocks = detects_by_default());
  ~GoGroup();  // waits for all
  GoGroup(const GoGroup&) = delete;
  GoGroup& operator=(const GoGroup&) = delete;

  template <typename F>
    requires std::is_invocable_v<F&> || std::is_invocable_v<F&, std::stop_token>
  void go(std::string name, F f) {
    // Given up when the thread has done its work, and before it counts as ended: handles of channels go with it.
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

  // Until all have ended, those too that they start meanwhile; then throws the first exception, if there was one.
  void join();

  std::stop_token stop_token() const { return stop_.get_token(); }
  void request_stop() { stop_.request_stop(); }

  // In the order of time; complete after `join`.
  std::vector<Failure> failures() const;
  std::string report() const;  // one line each: "name: what"

 private:
  class Member;

  void start(std::string name, std::function<void()> work);
  void wait_for_all();
  void run(Member&, const std::function<void()>& work);
  void check();

  // Of those who have not ended the upper half, of those who wait the lower: all wait if they are equal.
  static constexpr std::uint64_t one_alive = std::uint64_t{1} << 32, one_waiting = 1;
  bool all_wait() const;

  const bool detects_;
  std::atomic<std::uint64_t> counts_{one_alive};
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Member>> members_;  // the first is the thread that made the group
  std::size_t joined_ = 1;
  std::vector<Failure> failures_;
  channels::ThreadWatch* before_ = nullptr;
  const std::unique_ptr<Executor> executor_;  // null: threads
};

}  // namespace rml

#endif
