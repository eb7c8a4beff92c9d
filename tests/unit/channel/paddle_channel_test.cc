// The tests of Paddle's channels, one by one under the same names. Where Go differs, Go's rules
// apply.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "runtime/channel/go_group.h"
#include "runtime/channel/select.h"
#include "tests/unit/channel/await.h"

namespace rml {
namespace {

TEST(PaddleChannel, ChannelCapacityTest) {
  EXPECT_EQ(make_channel<int>(10).cap(), 10u);
  EXPECT_EQ(make_channel<int>().cap(), 0u);
}

TEST(PaddleChannel, SufficientBufferSizeDoesntBlock) {
  const auto c = make_channel<std::size_t>(10);
  for (std::size_t k = 0; k < 10; ++k) EXPECT_TRUE(c.try_send(k));
  for (std::size_t k = 0; k < 10; ++k) EXPECT_EQ(*c.recv(), k);
}

void send_receive_closed_panics(std::size_t capacity) {
  const auto c = make_channel<int>(capacity);
  GoGroup group;
  group.go([c] { c.send(5); });
  EXPECT_EQ(*c.recv(), 5);
  group.join();
  EXPECT_EQ(c.try_send(6), capacity > 0);
  c.close();
  EXPECT_EQ(c.recv().ok(), capacity > 0);
  EXPECT_TRUE(c.recv().closed());
  EXPECT_THROW(c.send(1), SendOnClosed);
  EXPECT_THROW(c.try_send(1), SendOnClosed);
}
TEST(PaddleChannel, SendReceiveClosedBufferedChannelPanics) { send_receive_closed_panics(1); }
TEST(PaddleChannel, SendReceiveClosedUnBufferedChannelPanics) { send_receive_closed_panics(0); }

TEST(PaddleChannel, ReceiveFromBufferedChannelReturnResidualValuesTest) {
  const auto c = make_channel<int>(10);
  for (int k = 0; k < 10; ++k) c.send(k);
  EXPECT_EQ(*c.recv(), 0);
  c.close();
  for (int k = 1; k < 10; ++k) EXPECT_EQ(*c.recv(), k);
  for (int k = 0; k < 3; ++k) {
    const auto [value, ok] = c.recv();
    EXPECT_FALSE(ok);
    EXPECT_EQ(value, 0);
  }
}

TEST(PaddleChannel, ConcurrentSendNonConcurrentReceiveWithSufficientBufferSize) {
  const auto c = make_channel<int>(10);
  int sent = 0;
  GoGroup group;
  group.go([c, &sent] {
    for (int k = 0; k < 11; ++k) {
      c.send(k);
      ++sent;
    }
  });
  await([&] { return c.waiting() == 1; });
  EXPECT_EQ(c.len(), 10u);
  c.close();
  EXPECT_THROW(group.join(), SendOnClosed);
  EXPECT_EQ(sent, 10);
}

void receives_in_the_order_sent(std::size_t capacity, int count) {
  const auto c = make_channel<int>(capacity);
  GoGroup group;
  group.go([c, count] {
    for (int k = 0; k < count; ++k) c.send(k);
    c.close();
  });
  int expected = 0;
  for (const int value : c) EXPECT_EQ(value, expected++);
  EXPECT_EQ(expected, count);
}
TEST(PaddleChannel, RecevingOrderEqualToSendingOrderWithUnBufferedChannel) { receives_in_the_order_sent(0, 20); }
TEST(PaddleChannel, RecevingOrderEqualToSendingOrderWithBufferedChannel1) { receives_in_the_order_sent(10, 5); }
TEST(PaddleChannel, RecevingOrderEqualToSendingOrderWithBufferedChannel2) { receives_in_the_order_sent(10, 10); }
TEST(PaddleChannel, RecevingOrderEqualToSendingOrderWithBufferedChannel3) { receives_in_the_order_sent(10, 20); }

// `end` ends the wait: it closes the channel or drops the last handle.
template <typename End>
void unblocks_receivers(std::size_t capacity, End end) {
  auto shared = std::make_unique<Channel<int>>(make_channel<int>(capacity));
  const Channel<int>* const c = shared.get();
  std::atomic<int> nothing = 0;
  GoGroup group(false);
  for (int k = 0; k < 5; ++k) group.go([c, &nothing] { nothing += c->recv().closed() ? 1 : 0; });
  await([&] { return c->waiting() == 5; });
  end(shared);
  group.join();
  EXPECT_EQ(nothing, 5);
}
template <typename End>
void unblocks_senders(std::size_t capacity, End end) {
  auto shared = std::make_unique<Channel<int>>(make_channel<int>(capacity));
  const Channel<int>* const c = shared.get();
  std::atomic<std::size_t> sent = 0, thrown = 0;
  GoGroup group(false);
  for (int k = 0; k < 5; ++k) {
    group.go([c, k, &sent, &thrown] {
      try {
        c->send(k);
        ++sent;
      } catch (const SendOnClosed&) {
        ++thrown;
      }
    });
  }
  await([&] { return c->waiting() == 5 - capacity && sent == capacity; });
  end(shared);
  group.join();
  EXPECT_EQ(sent, capacity);
  EXPECT_EQ(thrown, 5 - capacity);
}
void close(const std::unique_ptr<Channel<int>>& c) { c->close(); }
void destroy(std::unique_ptr<Channel<int>>& c) { c.reset(); }

TEST(PaddleChannel, BufferedChannelCloseUnblocksReceiversTest) { unblocks_receivers(1, close); }
TEST(PaddleChannel, UnbufferedChannelCloseUnblocksReceiversTest) { unblocks_receivers(0, close); }
TEST(PaddleChannel, BufferedChannelCloseUnblocksSendersTest) { unblocks_senders(1, close); }
TEST(PaddleChannel, UnbufferedChannelCloseUnblocksSendersTest) { unblocks_senders(0, close); }
TEST(PaddleChannel, BufferedChannelDestroyUnblocksReceivers) { unblocks_receivers(1, destroy); }
TEST(PaddleChannel, UnbufferedChannelDestroyUnblocksReceivers) { unblocks_receivers(0, destroy); }
TEST(PaddleChannel, BufferedChannelDestroyUnblocksSenders) { unblocks_senders(1, destroy); }
TEST(PaddleChannel, UnbufferedChannelDestroyUnblocksSenders) { unblocks_senders(0, destroy); }

TEST(PaddleChannel, UnbufferedLessReceiveMoreSendTest) {
  const auto c = make_channel<int>();
  int sent = 0;
  GoGroup group;
  group.go([c, &sent] {
    for (int k = 0; k < 4; ++k) {
      c.send(k);
      ++sent;
    }
  });
  int sum = 0;
  for (int k = 0; k < 3; ++k) sum += *c.recv();
  EXPECT_EQ(sum, 3);
  await([&] { return c.waiting() == 1; });
  c.close();
  EXPECT_THROW(group.join(), SendOnClosed);
  EXPECT_EQ(sent, 3);
}

TEST(PaddleChannel, UnbufferedMoreReceiveLessSendTest) {
  const auto c = make_channel<int>();
  std::atomic<int> sum = 0, received = 0;
  GoGroup group;
  group.go([&, c] {
    for (int k = 0; k < 8; ++k) {
      sum += *c.recv();
      ++received;
    }
  });
  for (int k = 0; k < 5; ++k) c.send(k);
  await([&] { return received == 5; });
  EXPECT_EQ(sum, 10);
  for (int k = 5; k < 8; ++k) c.send(k);
  group.join();
  EXPECT_EQ(sum, 28);
}

// ---- concurrency_test.cc

TEST(PaddleConcurrency, GoOp) {
  const auto c = make_channel<int>(10);
  GoGroup group;
  group.go([c] { c.send(99); });
  EXPECT_EQ(*c.recv(), 99);
}

int fibonacci(const Channel<int>& numbers, const Channel<int>& quit) {
  GoGroup group;
  int last = 0;
  group.go([&last, numbers, quit] {
    for (int k = 0; k < 10; ++k) last = *numbers.recv();
    quit.send(0);
  });
  int x = 0, y = 1;
  for (bool going = true; going;) {
    select(on_send(numbers, x, [&] { x = std::exchange(y, x + y); }), on_recv(quit, [&](auto) { going = false; }));
  }
  group.join();
  return last;
}
TEST(PaddleConcurrency, Select) { EXPECT_EQ(fibonacci(make_channel<int>(), make_channel<int>()), 34); }

// ---- Paddle's tests in Python

TEST(PaddlePython, SimpleRoutine) {
  const auto c = make_channel<double>();
  GoGroup group;
  group.go([c] { c.send(99.0); });
  EXPECT_EQ(*c.recv(), 99.0);
  c.close();
}

TEST(PaddlePython, DaisyChain) {
  const auto leftmost = make_channel<int>();
  GoGroup group;
  RecvChannel<int> right = leftmost;
  auto left = leftmost;
  for (int k = 0; k < 100; ++k) {
    const auto next = make_channel<int>();
    group.go([out = left.sender(), in = next.receiver()] { out.send(1 + *in.recv()); });
    left = next;
  }
  group.go([left] { left.send(1); });
  EXPECT_EQ(*right.recv(), 101);
}

TEST(PaddlePython, SelectSendAndDefault) {
  const auto c = make_channel<int>(1);
  int result = 0;
  c.send(10);
  for (int k = 0; k < 2; ++k) {
    select(on_send(c, 20, [&] { result = -1; }), otherwise([&] { result = *c.recv(); }));
    EXPECT_EQ(result, k == 0 ? 10 : -1);
  }
}

TEST(PaddlePython, Fibonacci) { EXPECT_EQ(fibonacci(make_channel<int>(), make_channel<int>(1)), 34); }

TEST(PaddlePython, PingPong) {
  const auto ball = make_channel<int>(), back = make_channel<int>();
  std::atomic<int> hits = 0, last = 0;
  GoGroup group;
  for (int player = 0; player < 2; ++player) {
    group.go([=, &hits, &last] {
      for (int hit : player == 0 ? ball : back) {
        EXPECT_EQ(hit, hits++);
        last = hit;
        if (hit == 9) {
          ball.close();
          back.close();
          return;
        }
        (player == 0 ? back : ball).send(hit + 1);
      }
    });
  }
  ball.send(0);
  group.join();
  EXPECT_EQ(last, 9);
}

}  // namespace
}  // namespace rml
