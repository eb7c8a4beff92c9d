// Compares a million random calls by eight threads with the sequential model of a channel, a
// queue of bounded length.
//
// The beginning and the end of each call are recorded; its effect happened at a moment between
// them. Necessary conditions for every order of these moments are checked: each received value
// was sent, once and before; the order is kept; the channel never contains more than its
// capacity; a refused call met a full, or empty, channel at some moment. (model_test.cc searches
// for the order itself, which takes too long for more than a few calls.)
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/channel/go_group.h"
#include "runtime/channel/select.h"

namespace rml {
namespace {

using namespace std::chrono_literals;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::int64_t all_calls = 60'000;
#else
constexpr std::int64_t all_calls = 1'000'000;
#endif

// ---- the check

// `began` and `ended` are ticks of a clock that all threads share. Calls in one tick may have
// happened in either order.
struct Call {
  bool sends = false;
  Outcome outcome = Outcome::done;
  std::uint32_t value = 0;
  std::int64_t began = 0, ended = 0;
};

// The upper or lower bound of the number of values in the channel, over time.
class Filling {
 public:
  void change(std::int64_t time, int by) { changes_.push_back({time, by}); }
  // For the upper bound, increases come first within a tick.
  void finish(bool most) {
    std::ranges::sort(changes_, [most](const Change& a, const Change& b) {
      return a.time != b.time ? a.time < b.time : most ? a.by > b.by : a.by < b.by;
    });
    counts_.push_back(0);
    for (const Change& change : changes_) counts_.push_back(counts_.back() + change.by);
  }
  std::int64_t most() const { return *std::ranges::max_element(counts_); }
  // True if the condition holds at some moment from `began` to `ended`.
  template <typename Condition>
  bool once(std::int64_t began, std::int64_t ended, const Condition& condition) const {
    const auto first = std::ranges::lower_bound(changes_, began, {}, &Change::time) - changes_.begin();
    for (auto k = static_cast<std::size_t>(first);; ++k) {
      if (condition(counts_[k])) return true;
      if (k == changes_.size() || changes_[k].time > ended) return false;
    }
  }

 private:
  struct Change {
    std::int64_t time;
    int by;
  };
  std::vector<Change> changes_;
  std::vector<std::int64_t> counts_;  // number of elements before the change of that index
};

// Checks all calls of a channel that is empty at the end. Returns an empty text if there is no
// error.
class Check {
 public:
  Check(const std::vector<Call>& calls, std::size_t capacity) : capacity_(static_cast<std::int64_t>(capacity)) {
    for (const Call& call : calls) {
      (call.outcome != Outcome::done ? turned_away_ : call.sends ? sent_ : received_).push_back(call);
    }
    std::ranges::sort(sent_, {}, &Call::value);
    std::ranges::sort(received_, {}, &Call::value);
  }

  std::string problem() {
    if (!std::ranges::equal(sent_, received_, {}, &Call::value, &Call::value)) return "not what was sent, or not once";
    for (std::size_t k = 0; k < sent_.size(); ++k) {
      if (received_[k].ended < sent_[k].began) return "received before it was sent: " + at(received_[k]);
    }
    if (const std::string disorder = order(); !disorder.empty()) return disorder;
    Filling surely, perhaps;
    for (std::size_t k = 0; k < sent_.size(); ++k) {
      surely.change(sent_[k].ended, 1);
      surely.change(received_[k].began, -1);
      perhaps.change(sent_[k].began, 1);
      perhaps.change(received_[k].ended, -1);
    }
    surely.finish(false);
    perhaps.finish(true);
    if (surely.most() > capacity_) return "more in it than it holds";
    for (const Call& call : turned_away_) {
      const bool well = call.sends
                            ? perhaps.once(call.began, call.ended, [this](std::int64_t n) { return n >= capacity_; })
                            : surely.once(call.began, call.ended, [](std::int64_t n) { return n <= 0; });
      if (!well) return (call.sends ? "it was not full: " : "it was not empty: ") + at(call);
    }
    return "";
  }

 private:
  static std::string at(const Call& call) {
    return std::to_string(call.value) + " from " + std::to_string(call.began) + " to " + std::to_string(call.ended);
  }

  // If one value was sent after another, it is not received before it.
  std::string order() const {
    std::vector<std::size_t> by_begin(sent_.size()), by_end(sent_.size());
    for (std::size_t k = 0; k < sent_.size(); ++k) by_begin[k] = by_end[k] = k;
    std::ranges::sort(by_begin, {}, [this](std::size_t k) { return sent_[k].began; });
    std::ranges::sort(by_end, {}, [this](std::size_t k) { return sent_[k].ended; });
    std::int64_t latest =
        std::numeric_limits<std::int64_t>::min();  // latest beginning of a receive of an earlier value
    auto before = by_end.begin();
    for (const std::size_t k : by_begin) {
      for (; sent_[*before].ended < sent_[k].began; ++before) latest = std::max(latest, received_[*before].began);
      if (received_[k].ended < latest) return "received out of order: " + at(received_[k]);
    }
    return "";
  }

  const std::int64_t capacity_;
  std::vector<Call> sent_, received_, turned_away_;
};

// ---- the calls

class Caller {
 public:
  Caller(Channel<std::uint32_t> channel, std::uint32_t number, std::atomic<std::int64_t>& left, std::stop_source stop)
      : channel_(std::move(channel)), left_(left), stop_(std::move(stop)), number_(number), random_(number + 1) {}

  // Half of the threads never wait without a limit for sending, the others never for receiving,
  // so that they cannot wait for each other forever.
  void run() {
    while (left_.fetch_sub(1, std::memory_order_relaxed) > 0) {
      switch (random_() % 8) {
        case 0:
          send([&] { return channel_.try_send(value()) ? Outcome::done : Outcome::not_ready; });
          break;
        case 1:
          send([&] { return channel_.send_for(value(), 20us) ? Outcome::done : Outcome::timed_out; });
          break;
        case 2:
          receive([&] { return channel_.try_recv(); });
          break;
        case 3:
          receive([&] { return channel_.recv_for(20us); });
          break;
        case 4:
          choose(false);
          break;
        case 5:
          choose(true);
          break;
        default:
          if (number_ % 2 == 0) {
            send([&] { return channel_.send(value(), stop_.get_token()) ? Outcome::done : Outcome::stopped; });
          } else {
            receive([&] { return channel_.recv(stop_.get_token()); });
          }
      }
    }
    stop_.request_stop();  // stops calls that wait, since no further calls will serve them
  }

  void drain() {
    while (calls.empty() || calls.back().outcome == Outcome::done) {
      receive([&] { return channel_.try_recv(); });
    }
  }

  std::vector<Call> calls;

 private:
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  std::uint32_t value() const { return number_ << 24 | count_; }

  void note(bool sends, Outcome outcome, std::uint32_t value, std::int64_t began) {
    calls.push_back({sends, outcome, value, began, now()});
    if (sends) ++count_;
  }
  template <typename F>
  void send(const F& f) {
    const std::int64_t began = now();
    const Outcome outcome = f();
    note(true, outcome, value(), began);
  }
  template <typename F>
  void receive(const F& f) {
    const std::int64_t began = now();
    const Received<std::uint32_t> got = f();
    note(false, got.outcome(), got ? *got : 0, began);
  }
  // Sends or receives, whichever is possible first. If both are refused, the channel was full at
  // one moment and empty at one.
  void choose(bool waits) {
    Received<std::uint32_t> got;
    std::uint32_t own = value();
    Selection either;
    either.send(channel_, own);
    either.recv(channel_, got);
    const std::int64_t began = now();
    const std::size_t taken = waits ? either.wait(stop_.get_token()) : either.try_now();
    if (taken != 1) note(true, taken == 0 ? Outcome::done : Outcome::not_ready, own, began);
    if (taken != 0) note(false, taken == 1 ? Outcome::done : Outcome::not_ready, taken == 1 ? *got : 0, began);
  }

  const Channel<std::uint32_t> channel_;
  std::atomic<std::int64_t>& left_;
  std::stop_source stop_;
  const std::uint32_t number_;
  std::uint32_t count_ = 0;
  std::minstd_rand random_;
};

TEST(ChannelHistory, AMillionRandomCallsOfEightThreadsAreThoseOfAQueue) {
  constexpr std::uint32_t threads = 8;
  std::int64_t calls_of_all = 0;
  for (const std::size_t capacity : {0, 1, 5, 64}) {
    const auto channel = make_channel<std::uint32_t>(capacity);
    std::atomic<std::int64_t> left{all_calls / 4};
    const std::stop_source stop;
    std::vector<std::unique_ptr<Caller>> callers;
    for (std::uint32_t k = 0; k <= threads; ++k) {
      callers.push_back(std::make_unique<Caller>(channel, k, left, stop));
    }
    {
      GoGroup group(false);
      for (std::uint32_t k = 0; k < threads; ++k) group.go([&, k] { callers[k]->run(); });
    }
    callers[threads]->drain();
    std::vector<Call> calls;
    std::int64_t done = 0;
    for (const auto& caller : callers) {
      calls.insert(calls.end(), caller->calls.begin(), caller->calls.end());
    }
    for (const Call& call : calls) done += call.outcome == Outcome::done ? 1 : 0;
    calls_of_all += static_cast<std::int64_t>(calls.size());
    EXPECT_GT(done, all_calls / 400) << "capacity " << capacity;
    EXPECT_EQ(Check(calls, capacity).problem(), "") << "capacity " << capacity;
  }
  EXPECT_GE(calls_of_all, all_calls);
}

// The check itself must detect errors.
TEST(ChannelHistory, WhatNoQueueDoesIsSeen) {
  const auto problem = [](std::size_t capacity, const std::vector<Call>& calls) {
    return Check(calls, capacity).problem().substr(0, 16);
  };
  const Call send_one{true, Outcome::done, 1, 10, 20}, send_two{true, Outcome::done, 2, 30, 40};
  const Call take_one{false, Outcome::done, 1, 50, 60}, take_two{false, Outcome::done, 2, 70, 80};
  EXPECT_EQ(problem(2, {send_one, send_two, take_one, take_two}), "");
  EXPECT_EQ(problem(1, {send_one, send_two, take_one, take_two}), "more in it than ");
  EXPECT_EQ(problem(0, {send_one, take_one}), "more in it than ");
  EXPECT_EQ(problem(0, {send_one, {false, Outcome::done, 1, 0, 30}}), "");
  EXPECT_EQ(problem(2, {send_one, send_two, take_one}), "not what was sen");
  EXPECT_EQ(problem(2, {send_one, take_one, {false, Outcome::done, 1, 70, 80}}), "not what was sen");
  EXPECT_EQ(problem(2, {send_two, {false, Outcome::done, 2, 10, 20}}), "received before ");
  EXPECT_EQ(problem(2, {send_one, send_two, {false, Outcome::done, 2, 41, 42}, take_one}), "received out of ");
  EXPECT_EQ(problem(2, {send_one, send_two, {false, Outcome::done, 2, 41, 55}, take_one}), "");
  const auto away = [](bool sends, std::int64_t began, std::int64_t ended) {
    return Call{sends, Outcome::not_ready, 0, began, ended};
  };
  EXPECT_EQ(problem(1, {send_one, take_one, away(true, 25, 28)}), "");
  EXPECT_EQ(problem(1, {send_one, take_one, away(true, 5, 8)}), "it was not full:");
  EXPECT_EQ(problem(1, {send_one, take_one, away(true, 5, 15)}), "");
  EXPECT_EQ(problem(2, {send_one, take_one, away(true, 5, 100)}), "it was not full:");
  EXPECT_EQ(problem(1, {send_one, take_one, away(false, 15, 18)}), "");
  EXPECT_EQ(problem(1, {send_one, take_one, away(false, 25, 45)}), "it was not empty");
  EXPECT_EQ(problem(1, {send_one, take_one, away(false, 25, 55)}), "");
}

}  // namespace
}  // namespace rml
