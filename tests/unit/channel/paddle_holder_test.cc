// The tests of Paddle's type-erased channels, under the same names.
#include <gtest/gtest.h>

#include <atomic>

#include "runtime/channel/channel_holder.h"
#include "runtime/channel/go_group.h"
#include "tests/unit/channel/await.h"

namespace rml {
namespace {

TEST(PaddleHolder, ChannelHolderCapacityTest) {
  ChannelHolder holder;
  holder.reset<int>(10);
  EXPECT_EQ(holder.cap(), 10u);
  holder.reset<int>(0);
  EXPECT_EQ(holder.cap(), 0u);
}

void sends_and_receives(std::size_t capacity) {
  ChannelHolder holder;
  holder.reset<std::string>(capacity);
  GoGroup group;
  group.go([&] {
    for (int k = 0; k < 20; ++k) holder.send(std::to_string(k));
  });
  for (int k = 0; k < 20; ++k) EXPECT_EQ(*holder.recv<std::string>(), std::to_string(k));
}
TEST(PaddleHolder, ChannelHolderBufferedSendReceiveTest) { sends_and_receives(10); }
TEST(PaddleHolder, ChannelHolderUnBufferedSendReceiveTest) { sends_and_receives(0); }

TEST(PaddleHolder, ChannelUninitializedTest) {
  const ChannelHolder holder;
  EXPECT_FALSE(holder.is_initialized());
  EXPECT_THROW(holder.send(1), HolderError);
  EXPECT_THROW(holder.recv<int>(), HolderError);
  EXPECT_THROW(holder.close(), HolderError);
  EXPECT_THROW(holder.cap(), HolderError);
  EXPECT_THROW(holder.type(), HolderError);
}

TEST(PaddleHolder, ChannelInitializedTest) {
  ChannelHolder holder;
  holder.reset<int>(2);
  EXPECT_TRUE(holder.is_initialized());
  EXPECT_TRUE(holder.type() == typeid(int));
  holder.close();
  EXPECT_TRUE(holder.is_initialized());
}

TEST(PaddleHolder, TypeMismatchSendTest) {
  ChannelHolder holder;
  holder.reset<int>(10);
  EXPECT_THROW(holder.send(true), HolderError);
  EXPECT_THROW(holder.send(1.0), HolderError);
  EXPECT_EQ(holder.len(), 0u);
}

TEST(PaddleHolder, TypeMismatchReceiveTest) {
  ChannelHolder holder;
  holder.reset<int>(10);
  holder.send(7);
  EXPECT_THROW(holder.recv<bool>(), HolderError);
  EXPECT_THROW(holder.get<float>(), HolderError);
  EXPECT_EQ(*holder.get<int>().recv(), 7);
}

// `end` closes or destroys the channel.
template <typename End>
void unblocks(std::size_t capacity, bool senders, End end) {
  auto shared = std::make_unique<ChannelHolder>();
  shared->reset<int>(capacity);
  const ChannelHolder* const holder = shared.get();
  std::atomic<std::size_t> well = 0, not_well = 0;
  GoGroup group(false);
  for (int k = 0; k < 5; ++k) {
    group.go([=, &well, &not_well] {
      try {
        (senders ? holder->send(k) : holder->recv<int>().ok()) ? ++well : ++not_well;
      } catch (const SendOnClosed&) {
        ++not_well;
      }
    });
  }
  const std::size_t succeed = senders ? capacity : 0;
  await([&] { return holder->waiting() == 5 - succeed && well == succeed; });
  end(shared);
  group.join();
  EXPECT_EQ(well, succeed);
  EXPECT_EQ(not_well, 5 - succeed);
}
void close_holder(const std::unique_ptr<ChannelHolder>& holder) { holder->close(); }
void destroy_holder(std::unique_ptr<ChannelHolder>& holder) { holder.reset(); }

TEST(PaddleHolder, ChannelHolderCloseUnblocksReceiversTest) {
  unblocks(1, false, close_holder);
  unblocks(0, false, close_holder);
}
TEST(PaddleHolder, ChannelHolderCloseUnblocksSendersTest) {
  unblocks(1, true, close_holder);
  unblocks(0, true, close_holder);
}
TEST(PaddleHolder, ChannelHolderDestroyUnblocksReceiversTest) {
  unblocks(1, false, destroy_holder);
  unblocks(0, false, destroy_holder);
}
TEST(PaddleHolder, ChannelHolderDestroyUnblocksSendersTest) {
  unblocks(1, true, destroy_holder);
  unblocks(0, true, destroy_holder);
}

TEST(PaddleHolder, ChannelHolderManyTimesClose) {
  ChannelHolder holder;
  holder.reset<int>(10);
  std::atomic<int> closed = 0;
  GoGroup group(false);
  for (int k = 0; k < 5; ++k) {
    group.go([&] {
      try {
        for (int n = 0; n < 100; ++n) holder.send(n);
      } catch (const SendOnClosed&) {
      }
    });
    group.go([&] {
      while (holder.recv<int>()) {
      }
    });
    group.go([&] {
      try {
        holder.close();
        ++closed;
      } catch (const CloseOfClosed&) {
      }
    });
  }
  group.join();
  EXPECT_EQ(closed, 1);
  EXPECT_EQ(holder.len(), 0u);
}

}  // namespace
}  // namespace rml
