// Groups of threads: ownership, reports of errors, and detection of deadlocks.
#include "runtime/channel/go_group.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/channel/select.h"
#include "tests/unit/channel/await.h"

namespace rml {
namespace {

TEST(GoGroup, OwnsWhatIsCapturedAndGivesItBackWhenTheThreadEnds) {
  const auto shared = std::make_shared<int>(3);
  GoGroup group;
  auto only_movable = std::make_unique<int>(4);
  int sum = 0;
  group.go([shared, own = std::move(only_movable), &sum] { sum = *shared + *own; });
  group.join();
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(GoGroup, PassesTheFirstExceptionOnAndReportsAll) {
  const auto never = make_channel<int>();
  GoGroup group;
  group.go("one", [] { throw std::runtime_error("first"); });
  group.go("two", [&](const std::stop_token& stop) {
    // The wait is stopped by the exception of the other function.
    EXPECT_EQ(never.recv(stop).outcome(), Outcome::stopped);
    throw 2;
  });
  group.go("three", [] {});
  EXPECT_THROW(group.join(), std::runtime_error);
  EXPECT_EQ(group.report(), "one: first\ntwo: an exception of another kind\n");
  ASSERT_EQ(group.failures().size(), 2u);
  EXPECT_EQ(group.failures()[0].thread, "one");
}

TEST(GoGroup, ThreadsStartThreads) {
  std::atomic<int> count = 0;
  GoGroup group;
  group.go([&] {
    for (int k = 0; k < 5; ++k) group.go([&] { ++count; });
  });
  group.join();
  EXPECT_EQ(count, 5);
  group.go([&] { ++count; });
  group.join();
  EXPECT_EQ(count, 6);
}

TEST(GoGroup, TheDestructorWaits) {
  bool done = false;
  const auto c = make_channel<int>();
  {
    GoGroup group;
    group.go([&] {
      c.recv();
      done = true;
    });
    c.send(1);
  }
  EXPECT_TRUE(done);
}

TEST(Deadlocks, OfTheThreadThatMadeTheGroupToo) {
  const auto c = make_channel<int>(0, "c");
  GoGroup group(true);
  group.go("other", [c] { c.recv(); });
  EXPECT_THROW(Channel<int>().send(1), Deadlock);
  EXPECT_THROW(group.join(), Deadlock);
  EXPECT_EQ(c.waiting(), 0u);
}

TEST(Deadlocks, TheReportSaysWhatEachWaitsFor) {
  const auto question = make_channel<int>(0, "question"), answer = make_channel<int>(1, "answer");
  GoGroup group(true);
  group.go("asker", [=] { answer.recv(); });
  try {
    question.recv();
    FAIL();
  } catch (const Deadlock& error) {
    EXPECT_STREQ(error.what(),
                 "all threads wait for each other:\n"
                 "  thread \"main\" waits to receive from channel \"question\" (0 of 0)\n"
                 "  thread \"asker\" waits to receive from channel \"answer\" (0 of 1)");
  }
  EXPECT_THROW(group.join(), Deadlock);
  EXPECT_EQ(group.report().substr(0, 39), "asker: all threads wait for each other:");
}

// A deadlock of the inner group concerns only the inner group; the outer group continues.
TEST(Deadlocks, OfAGroupWithinAThreadOfAnother) {
  const auto c = make_channel<int>();
  GoGroup outer(true);
  outer.go([=] {
    const auto never = make_channel<int>();
    {
      GoGroup inner(true);
      inner.go([=] { never.recv(); });
      EXPECT_THROW(inner.join(), Deadlock);
    }
    c.send(5);
  });
  EXPECT_EQ(*c.recv(), 5);
  outer.join();
  outer.go([=] { c.recv(); });
  EXPECT_THROW(outer.join(), Deadlock);
}

TEST(Deadlocks, AreSeenWhenAThreadEnds) {
  const auto c = make_channel<int>(), go = make_channel<int>();
  GoGroup group(true);
  group.go([=] { c.recv(); });
  group.go([=] { go.recv(); });
  await([&] { return c.waiting() + go.waiting() == 2; });
  go.send(1);
  EXPECT_THROW(group.join(), Deadlock);
  EXPECT_EQ(group.failures().size(), 1u);
}

TEST(Deadlocks, ADeadlineOrAThreadAtWorkIsNone) {
  const auto c = make_channel<int>(), never = make_channel<int>();
  GoGroup group(true);
  group.go([=] { EXPECT_EQ(never.recv_for(std::chrono::milliseconds(20)).outcome(), Outcome::timed_out); });
  group.go([=] { c.recv(); });
  await([&] { return c.waiting() == 1; });
  c.send(1);
  group.join();
}

// A thread that is about to observe its stop request does not count as waiting.
TEST(Deadlocks, AStopIsNone) {
  for (int round = 0; round < 200; ++round) {
    const auto c = make_channel<int>();
    GoGroup group(true);
    group.go([=](const std::stop_token& stop) { EXPECT_EQ(c.recv(stop).outcome(), Outcome::stopped); });
    group.go([&] { group.request_stop(); });
    group.join();
  }
}

// A transferred value counts immediately as work for its receiver, so no order of events gives a
// false alarm.
TEST(Deadlocks, AreNotSeenWhereThereAreNone) {
  for (const std::size_t capacity : {0, 1, 2}) {
    const auto ping = make_channel<int>(capacity), pong = make_channel<int>(capacity), other = make_channel<int>();
    GoGroup group(true);
    group.go([=] {
      for (const int value : ping) select(on_send(pong, value), on_recv(other));
      pong.close();
    });
    group.go([=] {
      for (int k = 0; k < 500; ++k) {
        ping.send(k);
        EXPECT_EQ(*pong.recv(), k);
      }
      ping.close();
    });
    group.join();
  }
}

}  // namespace
}  // namespace rml
