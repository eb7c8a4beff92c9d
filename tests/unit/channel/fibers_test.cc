// Groups whose functions share one thread (runtime/channel/fibers.h).
#include "runtime/channel/fibers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/channel/select.h"

namespace {

using namespace std::chrono_literals;
using rml::GoGroup;
using rml::make_channel;
using rml::on_fibers;

// ThreadSanitizer supports 8,000 fibers at a time; AddressSanitizer is slow for each fiber.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool few = true;
#else
constexpr bool few = false;
#endif

TEST(Fibers, RunInTheOrderInWhichTheyBecameReady) {
  std::string order;
  const auto go_on = make_channel<int>();
  GoGroup group(on_fibers());
  for (const char name : {'a', 'b', 'c'}) {
    group.go([&order, go_on, name] {
      order += name;
      go_on.recv();
      order += static_cast<char>(name - 'a' + 'A');
    });
  }
  EXPECT_EQ(order, "");  // no function has run, because the maker has not waited yet
  for (int k = 0; k < 3; ++k) go_on.send(k);
  group.join();
  EXPECT_EQ(order, "aAbcBC");  // a receives the value that the maker waits to send, and then continues
}

TEST(Fibers, TheMakerTakesTurns) {
  const auto ping = make_channel<int>(), pong = make_channel<int>();
  GoGroup group(on_fibers());
  group.go([=] {
    for (const int value : ping) pong.send(value + 1);
    pong.close();
  });
  for (int k = 0; k < 1000; ++k) {
    ping.send(k);
    ASSERT_EQ(*pong.recv(), k + 1);
  }
  ping.close();
  EXPECT_FALSE(pong.recv().ok());
}

TEST(Fibers, FullAndEmptyBuffers) {
  for (const std::size_t capacity : {0u, 1u, 2u, 64u}) {
    const auto numbers = make_channel<std::string>(capacity);
    std::int64_t sum = 0;
    GoGroup group(on_fibers());
    for (int sender = 0; sender < 3; ++sender) {
      group.go([=] {
        for (int k = 0; k < 500; ++k) numbers.send(std::to_string(k));
      });
    }
    for (int receiver = 0; receiver < 2; ++receiver) {
      group.go([=, &sum] {
        for (int k = 0; k < 750; ++k) sum += std::stoi(*numbers.recv());
      });
    }
    group.join();
    EXPECT_EQ(sum, 3 * 499 * 500 / 2);
  }
}

TEST(Fibers, SelectTakesWhatComes) {
  const auto a = make_channel<int>(), b = make_channel<int>(1);
  int from_a = 0, from_b = 0;
  GoGroup group(on_fibers());
  group.go([=] {
    for (int k = 0; k < 1000; ++k) a.send(1);
  });
  group.go([=] {
    for (int k = 0; k < 1000; ++k) b.send(1);
  });
  for (int k = 0; k < 2000; ++k) {
    rml::select(rml::on_recv(a, [&](auto value) { from_a += *value; }),
                rml::on_recv(b, [&](auto value) { from_b += *value; }));
  }
  EXPECT_EQ(from_a, 1000);
  EXPECT_EQ(from_b, 1000);
}

TEST(Fibers, DeadlinesPassWhileOthersRun) {
  const auto never = make_channel<int>(), late = make_channel<int>(), soon = make_channel<int>();
  std::string order;
  GoGroup group(on_fibers(), false);
  group.go([&] {
    EXPECT_FALSE(never.recv_for(30ms).ok());
    order += 'n';
    late.send(1);
  });
  group.go([&] {
    EXPECT_TRUE(soon.recv_for(10min).ok());
    order += 's';
    EXPECT_TRUE(late.recv_for(10min).ok());
    order += 'l';
  });
  group.go([&] { soon.send(1); });
  group.join();
  EXPECT_EQ(order, "snl");
  EXPECT_EQ(rml::select(rml::on_recv(never), rml::after(1ms)), 1u);  // the maker of the group may wait too
}

TEST(Fibers, AStopEndsAWait) {
  const auto never = make_channel<int>();
  int ended = 0;
  GoGroup group(on_fibers());
  for (int k = 0; k < 3; ++k) {
    group.go([&](const std::stop_token& stop) {
      EXPECT_FALSE(never.recv(stop).ok());
      ++ended;
    });
  }
  group.go([&] { group.request_stop(); });
  group.join();
  EXPECT_EQ(ended, 3);
}

TEST(Fibers, AStopByAnotherThread) {
  const auto never = make_channel<int>();
  GoGroup group(on_fibers(), false);
  group.go([&](const std::stop_token& stop) { EXPECT_FALSE(never.recv(stop).ok()); });
  std::jthread other([&] {
    std::this_thread::sleep_for(5ms);
    group.request_stop();
  });
  group.join();
}

// The last handle ends while other fibers of the thread are in the channel. Waiting for them must
// let them run.
TEST(Fibers, TheLastHandleGoes) {
  for (const bool by_the_maker : {true, false}) {
    auto channel = make_channel<int>();
    int ended = 0;
    GoGroup group(on_fibers(), false);
    for (int k = 0; k < 3; ++k) {
      group.go([&] {
        EXPECT_FALSE(channel.recv_for(10min).ok());
        ++ended;
      });
    }
    const auto started = make_channel<int>();
    group.go([&] {
      started.recv();
      if (!by_the_maker) channel = {};
    });
    started.send(1);
    if (by_the_maker) channel = {};
    group.join();
    EXPECT_EQ(ended, 3);
  }
}

// Each fiber exchanges messages with threads and with other groups.
TEST(Fibers, OtherEndsInOtherThreads) {
  constexpr int groups = 3, fibers = 4, messages = 3000;
  for (const std::size_t capacity : {0u, 1u, 16u}) {
    const auto to = make_channel<int>(capacity), back = make_channel<int>(capacity);
    std::atomic<std::int64_t> sum{0};
    std::vector<std::jthread> threads;
    for (int g = 0; g < groups; ++g) {
      threads.emplace_back([&] {
        GoGroup group(on_fibers(), false);
        for (int f = 0; f < fibers; ++f) {
          group.go([&] {
            for (const int value : to) back.send(value + 1);
          });
        }
        group.join();
      });
    }
    threads.emplace_back([&] {
      for (int k = 0; k < messages; ++k) to.send(k);
      to.close();
    });
    for (int k = 0; k < messages; ++k) sum += *back.recv();
    threads.clear();
    EXPECT_EQ(sum, std::int64_t{messages} * (messages + 1) / 2);
  }
}

// Several fibers may be woken together by select, by a deadline and by a stop, while the group
// ends.
TEST(Fibers, WakesFromAllSides) {
  for (int round = 0; round < 200; ++round) {
    const auto a = make_channel<int>(), b = make_channel<int>(1);
    std::stop_source stop;
    std::jthread other([&] {
      b.send(1);
      a.send_for(1, 1ms);
      stop.request_stop();
    });
    GoGroup group(on_fibers(), false);
    for (int k = 0; k < 3; ++k) {
      group.go([&, k] {
        rml::select(rml::on_recv(a), rml::on_recv(b), rml::on_stop(stop.get_token()),
                    rml::after(std::chrono::microseconds(100 * k)));
      });
    }
    group.join();
  }
}

TEST(Fibers, TheFirstExceptionIsPassedOn) {
  const auto never = make_channel<int>();
  GoGroup group(on_fibers());
  group.go("waits", [&](const std::stop_token& stop) { never.recv(stop); });
  group.go("fails", [] { throw std::runtime_error("no more"); });
  try {
    group.join();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "no more");
  }
  EXPECT_EQ(group.report(), "fails: no more\n");
}

// Each fiber has its own active exceptions, although the C++ library keeps them per thread.
TEST(Fibers, HandlersThatWait) {
  const auto turn = make_channel<int>();
  std::string told;
  GoGroup group(on_fibers());
  for (const char* name : {"a", "b", "c"}) {
    group.go([&, name] {
      try {
        throw std::runtime_error(name);
      } catch (const std::exception& error) {
        turn.recv();
        try {
          std::rethrow_exception(std::current_exception());
        } catch (const std::exception& same) {
          told += std::string(error.what()) + same.what();
          turn.recv();
        }
        EXPECT_EQ(std::uncaught_exceptions(), 0);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  }
  for (int k = 0; k < 6; ++k) turn.send(k);
  group.join();
  EXPECT_EQ(told, "aabbcc");
}

TEST(Fibers, WaitForEachOtherIsToldWithNames) {
  const auto left = make_channel<int>(0, "left"), right = make_channel<int>(0, "right");
  GoGroup group(on_fibers(), true);
  group.go("first", [&] {
    left.recv();
    right.send(1);
  });
  group.go("second", [&] {
    right.recv();
    left.send(1);
  });
  try {
    group.join();
    FAIL();
  } catch (const rml::Deadlock& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"first\" waits to receive from channel \"left\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"second\" waits to receive from channel \"right\""), std::string::npos) << text;
  }
}

TEST(Fibers, TheMakerAmongThoseThatWait) {
  const auto left = make_channel<int>(), right = make_channel<int>();
  GoGroup group(on_fibers(), true);
  group.go([&] { EXPECT_THROW(right.recv(), rml::Deadlock); });
  EXPECT_THROW(left.recv(), rml::Deadlock);
  group.join();
}

TEST(Fibers, AThreadHasOneGroupAtATime) {
  {
    GoGroup group(on_fibers());
    EXPECT_THROW(on_fibers(), std::logic_error);
    std::jthread([&] { EXPECT_THROW(group.go([] {}), std::logic_error); }).join();
    group.go([] { EXPECT_THROW(on_fibers(), std::logic_error); });
    std::jthread([] { EXPECT_NO_THROW(on_fibers()); }).join();
  }
  EXPECT_NO_THROW(on_fibers());
}

TEST(Fibers, ManyThatStartOthers) {
  constexpr int depth = few ? 9 : 12;
  int ended = 0;
  GoGroup group(on_fibers(16 * 1024));
  std::function<void(int)> start = [&](int level) {
    group.go([&, level] {
      const auto done = make_channel<int>(1);
      done.send(level);
      if (level < depth) start(level + 1), start(level + 1);
      done.recv();
      ++ended;
    });
  };
  start(0);
  group.join();
  EXPECT_EQ(ended, (2 << depth) - 1);
}

TEST(Fibers, TenThousandAtATime) {
  constexpr int count = few ? 2'000 : 10'000;
  const auto go_on = make_channel<int>();
  int ended = 0;
  GoGroup group(on_fibers(16 * 1024));
  for (int k = 0; k < count; ++k) {
    group.go([&] {
      go_on.recv();
      ++ended;
    });
  }
  for (int k = 0; k < count; ++k) go_on.send(k);
  group.join();
  EXPECT_EQ(ended, count);
}

}  // namespace
