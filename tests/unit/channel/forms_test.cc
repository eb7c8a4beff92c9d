// All forms of send and receive: immediate, with a deadline, until a stop, and without limit.
// Tests the ends of a wait, and two ends at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/channel/channel_holder.h"
#include "runtime/channel/go_group.h"
#include "runtime/channel/select.h"
#include "tests/unit/channel/await.h"

namespace rml {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using System = std::chrono::system_clock;
using Owned = std::unique_ptr<int>;

// A channel to which no sender can send immediately: of capacity 0, or full.
Channel<Owned> without_room(std::size_t capacity) {
  const auto c = make_channel<Owned>(capacity);
  while (c.try_send(std::make_unique<int>(0))) {
  }
  return c;
}

TEST(Forms, AtOnceMeetsWhoWaits) {
  const auto c = make_channel<int>();
  EXPECT_FALSE(c.try_send(1));
  EXPECT_EQ(c.try_recv().outcome(), Outcome::not_ready);
  GoGroup group;
  group.go([c] { EXPECT_EQ(*c.recv(), 1); });
  await([&] { return c.waiting() == 1; });
  EXPECT_TRUE(c.try_send(1));
  EXPECT_FALSE(c.try_send(2));
  group.join();
  group.go([c] { EXPECT_TRUE(c.send(3)); });
  await([&] { return c.waiting() == 1; });
  EXPECT_EQ(*c.try_recv(), 3);
  EXPECT_FALSE(c.try_recv());
  group.join();
  group.go([c] { EXPECT_EQ(*c.recv(), 4); });
  await([&] { return c.waiting() == 1; });
  EXPECT_EQ(select(on_send(c, 4), otherwise()), 0u);
  EXPECT_EQ(select(on_send(c, 5), otherwise()), 1u);
  group.join();
}

// When a receive makes room in a full buffer, the first waiting sender gets it immediately.
TEST(Forms, AReceiveLetsAWaitingSenderIn) {
  const auto c = make_channel<int>(2);
  c.send(0);
  c.send(1);
  GoGroup group;
  for (const int value : {2, 3}) {
    group.go([c, value] { c.send(value); });
    await([&] { return c.waiting() == static_cast<std::size_t>(value - 1); });
  }
  EXPECT_EQ(*c.try_recv(), 0);
  EXPECT_EQ(c.len(), 2u);
  EXPECT_EQ(c.waiting(), 1u);
  EXPECT_FALSE(c.try_send(9));
  EXPECT_EQ(*c.recv(), 1);
  EXPECT_EQ(c.len(), 2u);
  EXPECT_EQ(c.waiting(), 0u);
  group.join();
  EXPECT_EQ(*c.recv(), 2);
  EXPECT_EQ(*c.recv(), 3);
}

// The call waited until its deadline and changed nothing.
TEST(Forms, TooLate) {
  for (const std::size_t capacity : {0, 1}) {
    const auto full = without_room(capacity), empty = make_channel<Owned>(capacity);
    auto value = std::make_unique<int>(7);
    const auto takes_its_time = [](const auto& call) {
      const auto begin = Steady::now();
      call();
      EXPECT_GE(Steady::now() - begin, 5ms);
    };
    takes_its_time([&] { EXPECT_FALSE(full.send_for(std::move(value), 5ms)); });
    takes_its_time([&] { EXPECT_FALSE(full.send_until(std::move(value), Steady::now() + 5ms)); });
    takes_its_time([&] { EXPECT_EQ(empty.recv_for(5ms).outcome(), Outcome::timed_out); });
    takes_its_time([&] { EXPECT_EQ(empty.recv_until(Steady::now() + 5ms).outcome(), Outcome::timed_out); });
    takes_its_time([&] { EXPECT_EQ(select(on_recv(empty), after(5ms)), 1u); });
    EXPECT_FALSE(full.send_until(std::move(value), System::now() + 1ms));
    EXPECT_EQ(empty.recv_until(System::now() + 1ms).outcome(), Outcome::timed_out);
    EXPECT_FALSE(full.send_for(std::move(value), -1s));
    EXPECT_EQ(empty.recv_until(Steady::time_point::min()).outcome(), Outcome::timed_out);
    ASSERT_TRUE(value);
    EXPECT_EQ(*value, 7);
    EXPECT_EQ(full.len(), capacity);
    EXPECT_EQ(full.waiting() + empty.waiting() + empty.len(), 0u);
  }
}

TEST(Forms, InTime) {
  for (const std::size_t capacity : {0, 1}) {
    const auto c = without_room(capacity);
    GoGroup group;
    group.go([c, capacity] {
      await([&] { return c.waiting() == 1; });
      for (std::size_t k = 1 - capacity; k < 2; ++k) EXPECT_EQ(**c.recv_for(1h), static_cast<int>(k));
      EXPECT_EQ(**c.recv_until(Steady::now() + 1h), 2);
      EXPECT_EQ(**c.recv_until(System::now() + 1h), 3);
    });
    EXPECT_TRUE(c.send_for(std::make_unique<int>(1), 1h));
    EXPECT_TRUE(c.send_until(std::make_unique<int>(2), Steady::now() + 1h));
    EXPECT_TRUE(c.send_until(std::make_unique<int>(3), System::now() + 1h));
    group.join();
  }
}

// A call that is possible succeeds even after its deadline.
TEST(Forms, ReadyIsNeverTooLate) {
  const auto c = make_channel<int>(1);
  EXPECT_TRUE(c.send_for(1, -1s));
  EXPECT_EQ(*c.recv_until(Steady::time_point::min()), 1);
  const auto rendezvous = make_channel<int>();
  GoGroup group;
  group.go([=] { EXPECT_EQ(*rendezvous.recv(), 2); });
  await([&] { return rendezvous.waiting() == 1; });
  EXPECT_TRUE(rendezvous.send_for(2, 0s));
  group.join();
}

TEST(Forms, OnClosed) {
  for (const std::size_t capacity : {0, 1}) {
    const auto c = make_channel<int>(capacity);
    c.close();
    EXPECT_THROW(c.try_send(1), SendOnClosed);
    EXPECT_THROW(c.send_for(1, 1h), SendOnClosed);
    EXPECT_THROW(c.send_until(1, Steady::now() + 1h), SendOnClosed);
    EXPECT_TRUE(c.try_recv().closed());
    EXPECT_TRUE(c.recv_for(1h).closed());
    EXPECT_TRUE(c.recv_until(Steady::now() + 1h).closed());
    EXPECT_EQ(std::move(c.recv()).value_or_zero(), 0);
  }
}

TEST(Forms, AStopEndsEveryWait) {
  for (const std::size_t capacity : {0, 1}) {
    const auto full = without_room(capacity), empty = make_channel<Owned>(capacity);
    std::stop_source stop;
    const std::stop_token token = stop.get_token();
    GoGroup group(false);
    const auto sends = [&](const auto& send) {
      auto value = std::make_unique<int>(8);
      EXPECT_FALSE(send(std::move(value)));
      EXPECT_TRUE(value);
    };
    group.go([&] { sends([&](Owned&& v) { return full.send(std::move(v), token); }); });
    group.go([&] { sends([&](Owned&& v) { return full.send_for(std::move(v), 1h, token); }); });
    group.go([&] { sends([&](Owned&& v) { return full.send_until(std::move(v), System::now() + 1h, token); }); });
    group.go([&] { EXPECT_EQ(empty.recv(token).outcome(), Outcome::stopped); });
    group.go([&] { EXPECT_EQ(empty.recv_for(1h, token).outcome(), Outcome::stopped); });
    group.go([&] { EXPECT_EQ(empty.recv_until(System::now() + 1h, token).outcome(), Outcome::stopped); });
    group.go([&] { EXPECT_EQ(select(on_recv(empty), after(1h), on_stop(token)), 2u); });
    group.go([&] {
      Received<Owned> value;
      Selection selection;
      selection.recv(empty, value);
      EXPECT_EQ(selection.wait(token), Selection::none);
    });
    group.go([&] {
      for (const auto& value : Channel<Owned>().until(token)) FAIL() << *value;
    });
    await([&] { return full.waiting() == 3 && empty.waiting() == 5; });
    stop.request_stop();
    group.join();
    EXPECT_EQ(full.waiting() + empty.waiting() + empty.len(), 0u);
  }
}

// A wait has exactly one end. A sent value is received once, and a value that was not sent
// remains with its sender.
TEST(Forms, TwoEndsAtOnce) {
  enum class End { stop, deadline, close };
  for (const std::size_t capacity : {0, 1}) {
    for (const End end : {End::stop, End::deadline, End::close}) {
      for (int round = 0; round < 100; ++round) {
        const auto c = without_room(capacity);
        std::stop_source stop;
        auto value = std::make_unique<int>(1);
        bool sent = false;
        GoGroup group(false);
        group.go([&] {
          try {
            sent =
                end == End::deadline ? c.send_for(std::move(value), 20us) : c.send(std::move(value), stop.get_token());
          } catch (const SendOnClosed&) {
          }
        });
        group.go([&] {
          if (end == End::stop) stop.request_stop();
          if (end == End::close) c.close();
        });
        int sum = 0;
        for (std::size_t k = 0; k <= capacity; ++k) {
          if (const auto got = c.recv_for(100us)) sum += **got;
        }
        group.join();
        while (const auto got = c.try_recv()) sum += **got;
        EXPECT_EQ(sum, sent ? 1 : 0);
        EXPECT_EQ(value == nullptr, sent);
        EXPECT_EQ(c.waiting(), 0u);
      }
    }
  }
}

// ---- the end of the last handle

TEST(Destruction, WakesSelectsAndLeavesTheirOtherChannelsAlone) {
  const auto other = make_channel<int>();
  auto in = std::make_unique<Channel<int>>(make_channel<int>()),
       out = std::make_unique<Channel<int>>(make_channel<int>());
  const Channel<int>*const from = in.get(), *const to = out.get();
  GoGroup group(false);
  group.go([&, from] {
    EXPECT_EQ(select(on_recv(other), on_recv(*from, [](const auto& r) { EXPECT_TRUE(r.closed()); })), 1u);
  });
  group.go([&, to] { EXPECT_THROW(select(on_recv(other), on_send(*to, 1)), SendOnClosed); });
  await([&] { return other.waiting() == 2 && from->waiting() == 1 && to->waiting() == 1; });
  in.reset();
  out.reset();
  group.join();
  EXPECT_EQ(other.waiting(), 0u);
}

// The destructor returns only after the waiting thread has left; memory checkers report later
// accesses.
TEST(Destruction, WaitsForThoseInside) {
  for (int round = 0; round < 100; ++round) {
    auto handle = std::make_unique<Channel<std::string>>(make_channel<std::string>(round % 2));
    const Channel<std::string>* const c = handle.get();
    const bool senders = round % 4 < 2;
    if (senders && c->cap() > 0) c->send("there");
    GoGroup group(false);
    for (int k = 0; k < 3; ++k) {
      group.go([c, senders, k] {
        try {
          if (k == 2) {
            senders ? select(on_send(*c, "x"), on_send(*c, "y")) : select(on_recv(*c), on_recv(*c));
          } else {
            senders ? c->send("a text that is long enough to be allocated") : c->recv().closed();
          }
        } catch (const SendOnClosed&) {
        }
      });
    }
    await([&] { return c->waiting() == 4; });
    handle.reset();
    group.join();
  }
}

// ---- transferred values

struct Tensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

// A moved tensor keeps its address; a copied one is independent of the original.
TEST(Values, TensorsMoveOrAreCopied) {
  for (const std::size_t capacity : {0, 1}) {
    const auto c = make_channel<Tensor>(capacity);
    GoGroup group;
    Tensor moved{{2, 3}, std::vector<float>(6, 1.0F)}, kept = moved;
    const float *const place = moved.values.data(), *const own = kept.values.data();
    group.go([&] {
      c.send(std::move(moved));
      c.send(kept);
      kept.values[0] = 5.0F;  // a change of the original must not change the copy
      c.close();
    });
    const auto first = c.recv(), second = c.recv();
    group.join();
    EXPECT_EQ(first->values.data(), place);
    EXPECT_EQ(first->shape, (std::vector<std::size_t>{2, 3}));
    EXPECT_TRUE(moved.values.empty());
    EXPECT_NE(second->values.data(), own);
    EXPECT_EQ(second->values, std::vector<float>(6, 1.0F));
    EXPECT_EQ(kept.values[0], 5.0F);
  }
}

// A channel transports channels of channels. Each lives until its last handle ends.
TEST(Values, ChannelsOfChannelsOfChannels) {
  const auto top = make_channel<Channel<Channel<Owned>>>(1);
  {
    const auto middle = make_channel<Channel<Owned>>(1);
    const auto bottom = make_channel<Owned>(1);
    bottom.send(std::make_unique<int>(12));
    middle.send(bottom);
    top.send(middle);
  }
  const auto middle = *top.recv();
  const auto bottom = *middle.recv();
  EXPECT_EQ(**bottom.recv(), 12);
}

TEST(Values, HoldersAndBothDirectionsGoThroughChannels) {
  const auto holders = make_channel<ChannelHolder>(1);
  const auto answers = make_channel<SendChannel<int>>(1);
  const auto c = make_channel<int>(1);
  holders.send(ChannelHolder(c));
  answers.send(c);
  (*answers.recv()).send(6);
  const auto holder = *holders.recv();
  EXPECT_THROW(holder.recv<double>(), HolderError);
  EXPECT_EQ(*holder.recv<int>(), 6);
}

struct alignas(256) Aligned {
  char byte;
};

TEST(Values, StandWhereTheirAlignmentWants) {
  for (const std::size_t capacity : {0, 3}) {
    const auto c = make_channel<Aligned>(capacity);
    GoGroup group;
    group.go([c] {
      for (char k = 0; k < 10; ++k) c.send(Aligned{k});
      c.close();
    });
    char expected = 0;
    for (const Aligned& value : c) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&value) % 256, 0u);
      EXPECT_EQ(value.byte, expected++);
    }
    EXPECT_EQ(expected, 10);
  }
}

// Operands of all cases are computed once, including those of cases that are not chosen.
TEST(Values, OfASelectAreComputedOnce) {
  const auto a = make_channel<int>(1), b = make_channel<int>(1);
  int computed = 0;
  const auto compute = [&](int value) {
    ++computed;
    return value;
  };
  const std::size_t taken = select(on_send(a, compute(1)), on_send(b, compute(2)));
  EXPECT_EQ(computed, 2);
  EXPECT_EQ(*(taken == 0 ? a : b).try_recv(), taken == 0 ? 1 : 2);
  EXPECT_EQ(a.len() + b.len(), 0u);
}

}  // namespace
}  // namespace rml
