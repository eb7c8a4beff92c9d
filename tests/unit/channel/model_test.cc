// Compares channels with a sequential model. Long random runs check the order of each producer
// and the counts. For short runs, a sequential order of all calls must exist that explains their
// results (linearizability).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "runtime/channel/go_group.h"
#include "runtime/channel/select.h"

namespace rml {
namespace {

using namespace std::chrono_literals;

// ---- long runs

struct Message {
  std::uint32_t producer = 0, channel = 0;
  std::uint64_t number = 0;
};

// Counts per channel. Each message is counted in `sent`, and must be received once, in the order
// of its producer.
struct Books {
  std::atomic<std::uint64_t> sent{0}, received{0}, sum_sent{0}, sum_received{0};
};

class RandomRun {
 public:
  RandomRun(std::vector<std::size_t> capacities, std::uint32_t producers, std::uint64_t operations)
      : producers_(producers), operations_(operations), books_(capacities.size()) {
    for (const std::size_t capacity : capacities) channels_.push_back(make_channel<Message>(capacity));
  }

  void run() {
    GoGroup group;
    const auto ended = make_channel<int>(0, "ended");
    for (std::uint32_t p = 0; p < producers_; ++p) {
      group.go([this, p, ended] {
        produce(p);
        ended.send(0);
      });
      group.go([this, p] { consume(p); });
    }
    for (std::uint32_t p = 0; p < producers_; ++p) ended.recv();
    for (const auto& c : channels_) c.close();
    group.join();
    for (std::size_t k = 0; k < channels_.size(); ++k) {
      EXPECT_EQ(books_[k].sent, books_[k].received) << "channel " << k;
      EXPECT_EQ(books_[k].sum_sent, books_[k].sum_received) << "channel " << k;
      EXPECT_EQ(channels_[k].len() + channels_[k].waiting(), 0u);
    }
    EXPECT_GE(done_, 2 * operations_);
  }

 private:
  void count_sent(std::uint32_t producer, std::uint32_t channel, std::uint64_t& number) {
    books_[channel].sent.fetch_add(1, std::memory_order_relaxed);
    books_[channel].sum_sent.fetch_add(number * (producer + 1), std::memory_order_relaxed);
    ++number;
    done_.fetch_add(1, std::memory_order_relaxed);
  }

  // The numbers of one producer increase on each channel.
  void produce(std::uint32_t producer) {
    std::minstd_rand random(producer + 1);
    const auto any = [&] { return static_cast<std::uint32_t>(random() % channels_.size()); };
    for (std::uint64_t number = 0; number < operations_ / producers_;) {
      const std::uint32_t a = any(), b = any();
      Message first{producer, a, number}, second{producer, b, number};
      switch (random() % 6) {
        case 0:
        case 1:
          channels_[a].send(first);
          count_sent(producer, a, number);
          break;
        case 2:
          if (channels_[a].try_send(first)) count_sent(producer, a, number);
          break;
        case 3:
          if (channels_[a].send_for(std::move(first), 10us)) count_sent(producer, a, number);
          break;
        case 4: {
          const std::size_t k = select(on_send(channels_[a], first), on_send(channels_[b], second));
          count_sent(producer, k == 0 ? a : b, number);
          break;
        }
        default: {
          const std::size_t k = select(on_send(channels_[a], first), on_send(channels_[b], second), otherwise());
          if (k < 2) count_sent(producer, k == 0 ? a : b, number);
        }
      }
    }
  }

  void consume(std::uint32_t consumer) {
    std::minstd_rand random(consumer + 100);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
        last;  // last number received from each producer on each channel, plus 1
    std::vector<RecvChannel<Message>> open(channels_.begin(), channels_.end());
    const auto take = [&](std::size_t k, const Received<Message>& r) {
      if (r.closed()) open[k] = {};
      if (!r.ok()) return;
      std::uint64_t& before = last[{r->producer, r->channel}];
      EXPECT_GE(r->number, before);
      before = r->number + 1;
      books_[r->channel].received.fetch_add(1, std::memory_order_relaxed);
      books_[r->channel].sum_received.fetch_add(r->number * (r->producer + 1), std::memory_order_relaxed);
      done_.fetch_add(1, std::memory_order_relaxed);
    };
    const auto any_open = [&] { return std::ranges::any_of(open, [](const auto& c) { return !c.is_nil(); }); };
    while (any_open()) {
      const std::size_t a = random() % open.size(), b = random() % open.size();
      switch (random() % 5) {
        case 0:
          take(a, open[a].try_recv());
          break;
        case 1:
          take(a, open[a].recv_for(10us));
          break;
        case 2:
          select(on_recv(open[a], [&](auto r) { take(a, r); }), on_recv(open[b], [&](auto r) { take(b, r); }),
                 otherwise());
          break;
        default: {
          Selection all;
          std::vector<Received<Message>> values(open.size());
          for (std::size_t k = 0; k < open.size(); ++k) all.recv(open[k], values[k]);
          const std::size_t k = all.wait();
          take(k, values[k]);
        }
      }
    }
  }

  const std::uint32_t producers_;
  const std::uint64_t operations_;
  std::vector<Channel<Message>> channels_;
  std::vector<Books> books_;
  std::atomic<std::uint64_t> done_{0};
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t part = 10;  // divides the number of operations if each takes long
#else
constexpr std::uint64_t part = 1;
#endif

// In total a million completed sends and receives by eight threads.
TEST(ChannelModel, RandomOperationsOnBufferedChannels) { RandomRun({1, 4, 64}, 4, 400'000 / part).run(); }
TEST(ChannelModel, RandomOperationsOnRendezvous) { RandomRun({0}, 4, 40'000 / part).run(); }
TEST(ChannelModel, RandomOperationsOnAllKinds) { RandomRun({0, 1, 2, 16}, 4, 60'000 / part).run(); }

// ---- short runs, checked exactly

enum class Kind { send, recv, close };

struct TimedCall {
  Kind kind = Kind::send;
  int value = 0;  // the value that was sent, or received if `done`
  Outcome outcome = Outcome::done;
  std::uint64_t began = 0, ended = 0;
};

// Searches for an order of the calls that respects real time (a call precedes those that began
// after its end) and that a queue of this capacity explains. A rendezvous is a pair of calls at
// one point.
class Explanation {
 public:
  Explanation(std::vector<TimedCall> calls, std::size_t capacity) : calls_(std::move(calls)), capacity_(capacity) {}
  bool exists() { return from(0, {}, false); }

 private:
  bool may_come_next(std::size_t k, std::uint32_t taken) const {
    for (std::size_t other = 0; other < calls_.size(); ++other) {
      if ((taken >> other & 1) == 0 && other != k && calls_[other].ended < calls_[k].began) return false;
    }
    return true;
  }

  bool from(std::uint32_t taken, std::deque<int> queue, bool closed) {
    if (taken + 1 == std::uint32_t{1} << calls_.size()) return true;
    std::string state(reinterpret_cast<const char*>(&taken), sizeof taken);
    for (const int value : queue) state += static_cast<char>(value);
    if (!seen_.insert(state + (closed ? 'c' : 'o')).second) return false;
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      if ((taken >> k & 1) == 0 && may_come_next(k, taken) && step(k, taken, queue, closed)) return true;
    }
    return false;
  }

  bool step(std::size_t k, std::uint32_t taken, std::deque<int> queue, bool closed) {
    const TimedCall& c = calls_[k];
    const std::uint32_t then = taken | 1u << k;
    if (c.kind == Kind::close) return (c.outcome == Outcome::done) != closed && from(then, queue, true);
    // A waiting call may be stopped or time out in any state; a call that does not wait needs a
    // full or empty queue.
    if (c.outcome == Outcome::timed_out) return from(then, queue, closed);
    if (c.kind == Kind::send) {
      if (c.outcome == Outcome::closed) return closed && from(then, queue, true);
      if (closed) return false;
      if (c.outcome == Outcome::not_ready) return queue.size() >= capacity_ && from(then, queue, false);
      if (capacity_ == 0) return meets(k, then);
      if (queue.size() >= capacity_) return false;
      queue.push_back(c.value);
      return from(then, queue, false);
    }
    if (c.outcome == Outcome::closed) return closed && queue.empty() && from(then, queue, true);
    if (c.outcome == Outcome::not_ready) return !closed && queue.empty() && from(then, queue, false);
    // At a rendezvous, the receive is paired with its send.
    if (queue.empty() || queue.front() != c.value) return false;
    queue.pop_front();
    return from(then, queue, closed);
  }

  bool meets(std::size_t send, std::uint32_t taken) {
    for (std::size_t k = 0; k < calls_.size(); ++k) {
      const TimedCall& c = calls_[k];
      if ((taken >> k & 1) != 0 || c.kind != Kind::recv || c.outcome != Outcome::done) continue;
      if (c.value != calls_[send].value || !may_come_next(k, taken & ~(1u << send)) || c.ended < calls_[send].began) {
        continue;
      }
      if (from(taken | 1u << k, {}, false)) return true;
    }
    return false;
  }

  const std::vector<TimedCall> calls_;
  const std::size_t capacity_;
  std::set<std::string> seen_;
};

std::vector<TimedCall> history(std::size_t capacity, std::uint32_t seed) {
  const auto c = make_channel<int>(capacity);
  constexpr int threads = 3, each = 5;
  std::vector<TimedCall> calls(threads * each);
  std::atomic<std::uint64_t> clock{1};
  std::atomic<int> ready{0};
  GoGroup group(false);
  for (int thread = 0; thread < threads; ++thread) {
    group.go([&, thread] {
      std::minstd_rand random(seed * threads + static_cast<std::uint32_t>(thread) + 1);
      random.discard(5);
      ++ready;
      while (ready < threads) std::this_thread::yield();
      for (int k = 0; k < each; ++k) {
        TimedCall& call = calls[static_cast<std::size_t>(thread * each + k)];
        const auto kind = random() % 21;
        const bool waits = random() % 2 == 0;
        call.kind = kind == 20 ? Kind::close : kind < 10 ? Kind::send : Kind::recv;
        call.began = clock.fetch_add(1);
        if (call.kind == Kind::recv) {
          const Received<int> r = waits ? c.recv_for(20us) : c.try_recv();
          call.outcome = r.outcome();
          if (r) call.value = *r;
        } else {
          try {
            call.value = thread * each + k + 1;
            if (call.kind == Kind::close) {
              c.close();
            } else if (!(waits ? c.send_for(int(call.value), 20us) : c.try_send(call.value))) {
              call.outcome = waits ? Outcome::timed_out : Outcome::not_ready;
            }
          } catch (const ChannelError&) {
            call.outcome = Outcome::closed;
          }
        }
        call.ended = clock.fetch_add(1);
      }
    });
  }
  group.join();
  return calls;
}

std::string text_of(const std::vector<TimedCall>& calls) {
  std::string text;
  for (const TimedCall& c : calls) {
    text += std::to_string(c.began) + "-" + std::to_string(c.ended) + " " +
            (c.kind == Kind::send   ? "send "
             : c.kind == Kind::recv ? "recv "
                                    : "close ") +
            std::to_string(c.value) + " outcome " + std::to_string(static_cast<int>(c.outcome)) + "\n";
  }
  return text;
}

TEST(ChannelModel, ShortHistoriesAreLinearizable) {
  for (const std::size_t capacity : {0, 1, 2, 3}) {
    for (std::uint32_t seed = 0; seed < 300 / part; ++seed) {
      const std::vector<TimedCall> calls = history(capacity, seed);
      ASSERT_TRUE(Explanation(calls, capacity).exists()) << "capacity " << capacity << "\n" << text_of(calls);
    }
  }
}

// The check itself must detect errors.
TEST(ChannelModel, WhatNoQueueExplainsIsSeen) {
  const TimedCall send_one{Kind::send, 1, Outcome::done, 1, 2}, send_two{Kind::send, 2, Outcome::done, 3, 4};
  const TimedCall take_one{Kind::recv, 1, Outcome::done, 5, 8}, take_two{Kind::recv, 2, Outcome::done, 6, 7};
  const TimedCall nothing{Kind::recv, 0, Outcome::not_ready, 9, 10}, late_two{Kind::recv, 2, Outcome::done, 9, 10};
  EXPECT_TRUE(Explanation({send_one, send_two, take_one, take_two, nothing}, 2).exists());
  // Impossible, because the queue was full.
  EXPECT_FALSE(Explanation({send_one, send_two, take_one, take_two}, 1).exists());
  // Impossible, because 2 is in the queue.
  EXPECT_FALSE(Explanation({send_one, send_two, take_one, nothing}, 2).exists());
  // Impossible, because a value was received twice.
  EXPECT_FALSE(Explanation({send_one, send_two, take_two, late_two}, 2).exists());
  // Impossible, because the values are out of order.
  EXPECT_FALSE(Explanation({send_one, send_two, take_two}, 2).exists());
  // Impossible without a buffer, because the send did not wait.
  EXPECT_FALSE(Explanation({send_one, take_one}, 0).exists());
}

}  // namespace
}  // namespace rml
