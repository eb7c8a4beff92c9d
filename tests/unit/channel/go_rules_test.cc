// Go's rules for channels and select, and defects of Paddle's channels.
#include <gtest/gtest.h>

#include <atomic>
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "runtime/channel/go_group.h"
#include "runtime/channel/select.h"
#include "tests/unit/channel/await.h"

namespace rml {
namespace {

using namespace std::chrono_literals;

TEST(GoNil, SendAndReceiveNeverHappen) {
  const Channel<int> nil;
  EXPECT_FALSE(nil.try_send(1));
  EXPECT_EQ(nil.try_recv().outcome(), Outcome::not_ready);
  EXPECT_FALSE(nil.send_for(1, 1ms));
  EXPECT_EQ(nil.recv_for(1ms).outcome(), Outcome::timed_out);
  std::stop_source stop;
  GoGroup group(false);
  group.go([&] { EXPECT_FALSE(nil.send(1, stop.get_token())); });
  group.go([&] { EXPECT_EQ(nil.recv(stop.get_token()).outcome(), Outcome::stopped); });
  stop.request_stop();
  group.join();
}

TEST(GoNil, IsDisabledInSelectAndHasNoLengthAndNoClose) {
  const Channel<int> nil;
  const auto c = make_channel<int>(1);
  c.send(1);
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(select(on_recv(nil), on_recv(c), on_send(nil, 1)), 1u);
    c.send(1);
  }
  EXPECT_EQ(select(on_recv(nil), otherwise()), 1u);
  EXPECT_EQ(nil.len(), 0u);
  EXPECT_EQ(nil.cap(), 0u);
  EXPECT_THROW(nil.close(), CloseOfNil);
}

TEST(GoClose, SecondCloseThrows) {
  const auto c = make_channel<int>(0, "once");
  c.close();
  try {
    c.close();
    FAIL();
  } catch (const CloseOfClosed& error) {
    EXPECT_STREQ(error.what(), "close of channel \"once\" (0 of 0), which is closed");
  }
}

TEST(GoClose, ReceiveGivesZeroAndFalse) {
  const auto c = make_channel<std::string>(1);
  c.send("there");
  c.close();
  const auto [first, first_ok] = c.recv();
  EXPECT_EQ(first, "there");
  EXPECT_TRUE(first_ok);
  for (int k = 0; k < 2; ++k) {
    const auto [value, ok] = k == 0 ? c.recv() : c.try_recv();
    EXPECT_EQ(value, "");
    EXPECT_FALSE(ok);
  }
}

TEST(GoClose, AClosedReceiveIsReadyInSelectAndASendThrows) {
  const auto c = make_channel<int>(1), open = make_channel<int>(1);
  c.close();
  bool closed = false;
  EXPECT_EQ(select(on_recv(open), on_recv(c, [&](auto r) { closed = r.closed(); })), 1u);
  EXPECT_TRUE(closed);
  EXPECT_THROW(select(on_recv(open), on_send(c, 1)), SendOnClosed);
  EXPECT_THROW(select(on_send(c, 1), otherwise()), SendOnClosed);
}

TEST(GoClose, WakesSelects) {
  const auto a = make_channel<int>(), b = make_channel<int>(2), full = make_channel<int>(1);
  full.send(0);
  GoGroup group;
  group.go([=] { EXPECT_EQ(select(on_recv(b), on_recv(a)), 1u); });
  group.go([=] { EXPECT_THROW(select(on_send(full, 1), on_recv(b)), SendOnClosed); });
  await([&] { return b.waiting() == 2; });
  a.close();
  full.close();
  group.join();
  EXPECT_EQ(b.waiting(), 0u);
}

TEST(GoLen, CountsWhatIsThere) {
  const auto c = make_channel<int>(3);
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(c.len(), static_cast<std::size_t>(k));
    c.send(k);
  }
  EXPECT_EQ(c.len(), 3u);
  c.recv();
  EXPECT_EQ(c.len(), 2u);
  c.close();
  EXPECT_EQ(c.len(), 2u);
  EXPECT_EQ(make_channel<int>().len(), 0u);
}

TEST(GoRange, EndsWhenClosedAndDrainedOrStopped) {
  const auto c = make_channel<int>(4);
  for (int k = 0; k < 4; ++k) c.send(k);
  c.close();
  std::vector<int> values;
  for (const int value : c) values.push_back(value);
  EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3}));
  std::stop_source stop;
  stop.request_stop();
  for (const int value : make_channel<int>().until(stop.get_token())) FAIL() << value;
}

template <typename C>
concept CanSend = requires(const C& c) { c.send(1); };
template <typename C>
concept CanReceive = requires(const C& c) { c.recv(); };
template <typename C>
concept CanClose = requires(const C& c) { c.close(); };

TEST(GoDirections, AreTypes) {
  static_assert(CanSend<Channel<int>> && CanReceive<Channel<int>> && CanClose<Channel<int>>);
  static_assert(CanSend<SendChannel<int>> && !CanReceive<SendChannel<int>> && CanClose<SendChannel<int>>);
  static_assert(!CanSend<RecvChannel<int>> && CanReceive<RecvChannel<int>> && !CanClose<RecvChannel<int>>);
  static_assert(std::convertible_to<Channel<int>, RecvChannel<int>>);
  static_assert(!std::convertible_to<RecvChannel<int>, Channel<int>>);
  static_assert(!std::convertible_to<RecvChannel<int>, SendChannel<int>>);
  const auto c = make_channel<int>(1);
  const SendChannel<int> in = c;
  const RecvChannel<int> out = c;
  in.send(3);
  EXPECT_EQ(*out.recv(), 3);
}

TEST(GoFirstClass, ChannelsAreComparableAndElementsOfChannels) {
  const auto a = make_channel<int>(1), b = make_channel<int>(1);
  const auto copy = a;
  EXPECT_TRUE(a == copy);
  EXPECT_TRUE(a.receiver() == a.sender());
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(Channel<int>() == Channel<int>());
  const auto channels = make_channel<Channel<int>>(1);
  GoGroup group;
  group.go([channels] {
    const auto answer = make_channel<int>();
    channels.send(answer);
    answer.send(42);
  });
  const auto answer = *channels.recv();
  EXPECT_EQ(*answer.recv(), 42);
}

// Values are moved; a named value is copied, because the sender keeps it.
TEST(GoValues, MoveByDefaultCopyIfNamed) {
  const auto pointers = make_channel<std::unique_ptr<int>>(1);
  auto value = std::make_unique<int>(4);
  EXPECT_TRUE(pointers.try_send(std::move(value)));
  EXPECT_FALSE(value);
  value = std::make_unique<int>(5);
  EXPECT_FALSE(pointers.try_send(std::move(value)));
  EXPECT_FALSE(pointers.send_for(std::move(value), 1ms));
  EXPECT_TRUE(value);
  EXPECT_EQ(**pointers.recv(), 4);
  const auto strings = make_channel<std::string>(1);
  const std::string kept = "kept, and long enough to be allocated";
  strings.send(kept);
  EXPECT_EQ(*strings.recv(), kept);
}

TEST(GoValues, NothingIsLostOrDestroyedTwice) {
  const auto counted = std::make_shared<int>();
  {
    const auto c = make_channel<std::shared_ptr<int>>(3);
    for (int k = 0; k < 3; ++k) c.send(counted);
    c.recv();
    EXPECT_EQ(counted.use_count(), 3);
    c.send(counted);
    GoGroup group;
    group.go([c, counted] { EXPECT_THROW(c.send(counted), SendOnClosed); });
    group.go([c, counted] { EXPECT_THROW(select(on_send(c, counted), on_send(c, counted)), SendOnClosed); });
    EXPECT_EQ(select(on_send(c, counted), after(1ms)), 1u);
    await([&] { return c.waiting() == 3; });
    c.close();
    group.join();
    EXPECT_EQ(counted.use_count(), 4);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(GoSelect, IsFairAmongReadyCases) {
  const auto a = make_channel<int>(1), b = make_channel<int>(1), c = make_channel<int>(1);
  int taken[4] = {};
  for (int k = 0; k < 8'000; ++k) {
    a.try_send(1);
    b.try_send(1);
    c.try_recv();
    ++taken[select(on_recv(a), on_recv(b), on_send(c, 1), on_recv(a))];  // the case of the same channel occurs twice
  }
  for (const int n : taken) EXPECT_NEAR(n, 2'000, 200);
}

TEST(GoSelect, IsFairBetweenBufferedAndRendezvous) {
  const auto buffered = make_channel<int>(1), rendezvous = make_channel<int>();
  GoGroup group;
  group.go([=] {
    for (int k = 0; k < 300; ++k) rendezvous.send(k);
  });
  int others = 0;
  for (int met = 0; met < 300;) {
    await([&] { return rendezvous.waiting() == 1; });
    buffered.try_send(1);
    select(on_recv(buffered, [&](auto) { ++others; }), on_recv(rendezvous, [&](auto) { ++met; }));
  }
  EXPECT_NEAR(others, 300, 120);
}

TEST(GoSelect, TakesDefaultOnlyIfNothingIsReady) {
  const auto c = make_channel<int>(1), rendezvous = make_channel<int>();
  EXPECT_EQ(select(on_recv(c), on_recv(rendezvous), on_send(rendezvous, 1), otherwise()), 3u);
  c.send(1);
  EXPECT_EQ(select(on_recv(c), on_recv(rendezvous), otherwise()), 0u);
}

// A value moves to and fro between two channels and is in at least one of them at every moment. A
// select that checks one channel after the other could miss it in both.
TEST(GoSelect, TakesDefaultOnlyIfNothingIsReadyAtOneMoment) {
  const auto a = make_channel<int>(2), b = make_channel<int>(2);
  a.send(0);
  std::atomic<bool> over = false;
  GoGroup group(false);
  group.go([&] {
    while (!over) {
      b.send(1);
      a.recv();
      a.send(1);
      b.recv();
    }
  });
  int missed = 0;
  for (int k = 0; k < 50'000; ++k) {
    const std::size_t taken = select(on_recv(a), on_recv(b), otherwise());
    missed += taken == 2 ? 1 : 0;
    if (taken < 2) (taken == 0 ? a : b).send(1);
  }
  over = true;
  group.join();
  EXPECT_EQ(missed, 0);
}

TEST(GoSelect, WithoutCasesWaitsForeverOrForAStop) {
  std::stop_source stop;
  GoGroup group(false);
  group.go([&] { EXPECT_EQ(select(on_stop(stop.get_token())), 0u); });
  EXPECT_EQ(select(after(1ms)), 0u);
  stop.request_stop();
  group.join();
}

TEST(GoSelect, EndsInTime) {
  const auto c = make_channel<int>();
  bool late = false;
  EXPECT_EQ(select(on_recv(c), after(5ms, [&] { late = true; })), 1u);
  EXPECT_TRUE(late);
  EXPECT_EQ(select(on_recv(c), at(std::chrono::system_clock::now() + 1ms)), 1u);
  EXPECT_EQ(c.waiting(), 0u);
}

TEST(GoSelect, SendsAndReceivesOfOneChannelDoNotMeetThemselves) {
  for (const std::size_t capacity : {0, 1}) {
    const auto c = make_channel<int>(capacity);
    int own = 0;
    for (int k = 0; k < 10; ++k) own += select(on_send(c, 1), on_recv(c), otherwise()) == 2 ? 1 : 0;
    EXPECT_EQ(own, capacity == 0 ? 10 : 0);
  }
  // Two selects that can both send and receive on a channel can serve each other.
  const auto c = make_channel<int>();
  GoGroup group;
  std::atomic<std::size_t> sum = 0;
  for (int k = 0; k < 2; ++k) group.go([&] { sum += select(on_send(c, 1), on_recv(c)); });
  group.join();
  EXPECT_EQ(sum, 1u);
}

TEST(GoSelect, ASelectionOfManyCases) {
  std::vector<Channel<int>> channels;
  std::vector<Received<int>> values(50);
  Selection selection;
  for (std::size_t k = 0; k < 50; ++k) {
    channels.push_back(make_channel<int>(k % 3));
    EXPECT_EQ(selection.recv(channels.back(), values[k]), k);
  }
  EXPECT_EQ(selection.try_now(), Selection::none);
  EXPECT_EQ(selection.wait_until(deadline_in(1ms)), Selection::none);
  GoGroup group;
  group.go([&] {
    for (int k = 0; k < 50; ++k) channels[static_cast<std::size_t>(k)].send(k);
  });
  for (int k = 0; k < 50; ++k) {
    const std::size_t taken = selection.wait();
    ASSERT_NE(taken, Selection::none);
    EXPECT_EQ(*values[taken], static_cast<int>(taken));
  }
  group.join();
  int value = 7;
  Selection sends;
  sends.send(channels[1], value);
  EXPECT_EQ(sends.wait(), 0u);
  EXPECT_EQ(*channels[1].recv(), 7);
  channels[1].close();
  EXPECT_THROW(sends.try_now(), SendOnClosed);
}

// The values are plain variables, so ThreadSanitizer reports missing synchronisation.
TEST(GoMemory, SendBeforeReceiveCloseBeforeItsSignalAndReceiveBeforeALaterSend) {
  for (const std::size_t capacity : {0, 1, 3}) {
    const auto c = make_channel<int>(capacity);
    int written = 0, read_by_receiver = 0, last = 0;
    GoGroup group;
    group.go([&, c] {
      written = 1;
      c.send(0);
      for (std::size_t k = 0; k < capacity; ++k) c.send(0);  // send number 1 + capacity follows the first receive
      EXPECT_EQ(read_by_receiver, 1);
      last = 2;
      c.close();
    });
    read_by_receiver = 1;
    c.recv();
    EXPECT_EQ(written, 1);
    for (const int value : c) EXPECT_EQ(value, 0);
    EXPECT_EQ(last, 2);
    group.join();
  }
}

TEST(GoMemory, AllAsleepIsReported) {
  const auto a = make_channel<int>(1, "a"), b = make_channel<int>(0, "b");
  a.send(0);
  GoGroup group(true);
  group.go("sender", [=] { a.send(1); });
  group.go("chooser", [=] { select(on_recv(b), on_send(b, 1)); });
  group.go("nil", [] { Channel<int>().recv(); });
  try {
    group.join();
    FAIL();
  } catch (const Deadlock& error) {
    EXPECT_STREQ(error.what(),
                 "all threads wait for each other:\n"
                 "  thread \"sender\" waits to send to channel \"a\" (1 of 1)\n"
                 "  thread \"chooser\" waits in a select to receive from channel \"b\" (0 of 0) or to send to channel "
                 "\"b\" (0 of 0)\n"
                 "  thread \"nil\" waits for nothing: a nil channel, or a select without cases");
  }
  EXPECT_EQ(group.failures().size(), 3u);
}

// ---- defects of Paddle, with the numbers of its issues

TEST(PaddleDefects, ABlockedSenderDoesNotOvertakeTheBuffer9388) {
  for (const std::size_t capacity : {1, 2, 5}) {
    const auto c = make_channel<int>(capacity);
    GoGroup group;
    int next = 0;
    while (static_cast<std::size_t>(next) < capacity) c.send(next++);
    for (int k = 0; k < 6; ++k) {  // starts the calls one after the other, so that their order is known
      group.go([c, value = next++] { c.send(value); });
      await([&] { return c.waiting() == static_cast<std::size_t>(k + 1); });
    }
    EXPECT_FALSE(c.try_send(100));
    for (int k = 0; k < next; ++k) EXPECT_EQ(*c.recv(), k);
    group.join();
  }
}

TEST(PaddleDefects, NoDeadlockNorLostWakeUpBetweenUnlockAndSleep9503_9543_9999) {
  for (const std::size_t capacity : {0, 1}) {
    const auto a = make_channel<int>(capacity), b = make_channel<int>(capacity);
    GoGroup group;
    for (int thread = 0; thread < 2; ++thread) {
      group.go([=] {
        for (int k = 0; k < 500; ++k) select(on_send(a, k), on_send(b, k));
      });
      group.go([=] {
        for (int k = 0; k < 500; ++k) select(on_recv(b), on_recv(a));
      });
    }
    group.join();
    EXPECT_EQ(a.len() + b.len() + a.waiting() + b.waiting(), 0u);
  }
}

TEST(PaddleDefects, LateWaitersFindAClosedChannelNotAFreedOne8197_8248) {
  for (int round = 0; round < 50; ++round) {
    auto c = std::make_unique<Channel<int>>(make_channel<int>());
    GoGroup group(false);
    for (int k = 0; k < 3; ++k) group.go([own = *c] { EXPECT_FALSE(own.recv()); });
    c->close();
    c.reset();
    group.join();
  }
}

TEST(PaddleDefects, CloseWakesSendersAndReceivers8094) {
  const auto full = make_channel<int>(1), empty = make_channel<int>(1);
  full.send(1);
  GoGroup group;
  group.go([=] { EXPECT_THROW(full.send(2), SendOnClosed); });
  group.go([=] { EXPECT_TRUE(empty.recv().closed()); });
  group.go([=] { EXPECT_THROW(select(on_send(full, 3), on_send(full, 4)), SendOnClosed); });
  await([&] { return full.waiting() == 3 && empty.waiting() == 1; });
  full.close();
  empty.close();
  group.join();
}

}  // namespace
}  // namespace rml
