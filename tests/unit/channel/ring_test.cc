// Rings: order, capacity, batches, move-only elements, waiting, closing, stopping.
#include "runtime/channel/ring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace rml {
namespace {

using namespace std::chrono_literals;

TEST(Ring, HoldsExactlyItsCapacityWhateverItIs) {
  for (std::size_t capacity = 1; capacity <= 17; ++capacity) {
    Ring<std::size_t> ring(capacity);
    EXPECT_EQ(ring.capacity(), capacity);
    std::size_t next = 0, expected = 0;
    for (std::size_t round = 0; round < 40; ++round) {
      while (ring.try_push(next)) ++next;
      EXPECT_EQ(ring.size(), capacity);
      for (std::size_t k = 0; k < 1 + round % capacity; ++k) EXPECT_EQ(ring.try_pop(), expected++);
    }
    while (const auto value = ring.try_pop()) EXPECT_EQ(*value, expected++);
    EXPECT_EQ(expected, next);
    EXPECT_TRUE(ring.empty());
  }
  EXPECT_THROW(Ring<int>(0), std::invalid_argument);
  EXPECT_THROW(Ring<int>(~std::size_t{0}), std::bad_alloc);
}

TEST(Ring, MovesElementsAndKeepsTheOnesItDoesNotTake) {
  Ring<std::unique_ptr<int>> ring(2);
  auto one = std::make_unique<int>(1);
  EXPECT_TRUE(ring.try_push(std::move(one)));
  EXPECT_TRUE(ring.try_emplace(new int(2)));
  auto three = std::make_unique<int>(3);
  EXPECT_FALSE(ring.try_push(std::move(three)));
  ASSERT_TRUE(three);
  EXPECT_EQ(**ring.try_pop(), 1);
  EXPECT_TRUE(ring.try_push(std::move(three)));
  std::unique_ptr<int> value;
  EXPECT_TRUE(ring.try_pop(value));
  EXPECT_EQ(*value, 2);
  EXPECT_EQ(*ring.readable()[0], 3);
}

TEST(Ring, DestroysWhatIsLeft) {
  const auto shared = std::make_shared<int>(0);
  {
    Ring<std::shared_ptr<int>> ring(5);
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(ring.try_push(shared));
    EXPECT_EQ(shared.use_count(), 6);
    ring.consume(2);
    EXPECT_EQ(shared.use_count(), 4);
    EXPECT_TRUE(ring.try_push(shared));
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Ring, BatchesGoRoundTheEnd) {
  Ring<int> ring(6);
  int next = 0, expected = 0;
  for (int round = 0; round < 50; ++round) {
    std::vector<int> values(static_cast<std::size_t>(round % 8));
    std::iota(values.begin(), values.end(), next);
    next += static_cast<int>(ring.try_push_n(values));
    if (const std::span<int> free = ring.writable(); !free.empty()) {
      free[0] = next++;
      ring.commit(1);
    }
    const std::span<int> there = ring.readable();
    for (const int value : there) EXPECT_EQ(value, expected++);
    ring.consume(there.size());
  }
  EXPECT_EQ(ring.size(), static_cast<std::size_t>(next - expected));
  EXPECT_GT(next, 100);
}

// If moving an element of a batch throws, the ring stays unchanged.
struct Fragile {
  explicit Fragile(std::shared_ptr<int> value) : held(std::move(value)) {}
  Fragile(Fragile&& other) : held(other.held) {
    if (--*held < 0) throw std::runtime_error("broken");
  }
  std::shared_ptr<int> held;
};

TEST(Ring, ABatchThatThrowsIsNotThere) {
  const auto left = std::make_shared<int>(100);
  std::vector<Fragile> values;
  values.reserve(3);
  for (int k = 0; k < 3; ++k) values.emplace_back(left);
  Ring<Fragile> ring(4);
  *left = 2;
  EXPECT_THROW(ring.try_push_n(values), std::runtime_error);
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(left.use_count(), 4);
  *left = 3;
  EXPECT_EQ(ring.try_push_n(values), 3u);
}

TEST(Ring, TwoThreadsSeeOneOrder) {
  Ring<std::uint64_t> ring(64);
  constexpr std::uint64_t count = 20'000;
  std::jthread producer([&] {
    for (std::uint64_t k = 0; k < count;) {
      if (ring.try_push(k)) {
        ++k;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (std::uint64_t expected = 0; expected < count;) {
    const std::span<std::uint64_t> there = ring.readable();
    for (const std::uint64_t value : there) ASSERT_EQ(value, expected++);
    ring.consume(there.size());
    if (there.empty()) std::this_thread::yield();
  }
}

TEST(BlockingRing, HandsOverAllInOrderAndEnds) {
  for (const std::size_t capacity : {1, 2, 3, 100}) {
    BlockingRing<std::unique_ptr<int>> ring(capacity);
    std::jthread producer([&] {
      for (int k = 0; k < 2'000; ++k) EXPECT_TRUE(ring.push(std::make_unique<int>(k)));
      ring.close();
    });
    int expected = 0;
    while (const auto value = ring.pop()) ASSERT_EQ(**value, expected++);
    EXPECT_EQ(expected, 2'000);
    EXPECT_FALSE(ring.pop());
    EXPECT_FALSE(ring.push(std::make_unique<int>(0)));
  }
}

TEST(BlockingRing, HandsOverBatches) {
  BlockingRing<int> ring(7);
  std::jthread producer([&] {
    std::vector<int> values(3'000);
    std::iota(values.begin(), values.end(), 0);
    EXPECT_EQ(ring.push_n(values), 3'000u);
    for (int next = 3'000; next < 6'000;) {
      const std::span<int> free = ring.writable();
      const std::size_t count = std::min(free.size(), static_cast<std::size_t>(6'000 - next));
      for (std::size_t k = 0; k < count; ++k) free[k] = next++;
      ring.commit(count);
    }
    ring.close();
  });
  int expected = 0;
  for (std::span<int> there = ring.readable(); !there.empty(); there = ring.readable()) {
    for (const int value : there) ASSERT_EQ(value, expected++);
    ring.consume(there.size());
  }
  EXPECT_EQ(expected, 6'000);
}

TEST(BlockingRing, CloseWakesEitherSide) {
  BlockingRing<int> empty(1), full(1);
  EXPECT_TRUE(full.push(1));
  std::jthread consumer([&] { EXPECT_FALSE(empty.pop()); });
  std::jthread producer([&] { EXPECT_FALSE(full.push(2)); });
  std::this_thread::sleep_for(20ms);  // both threads probably sleep by now; the result must be the same in any case
  empty.close();
  full.close();
  consumer.join();
  producer.join();
  EXPECT_EQ(full.pop(), 1);
  EXPECT_EQ(full.pop(), std::nullopt);
}

TEST(BlockingRing, AStopWakesEitherSideAndLosesNothing) {
  BlockingRing<std::string> empty(1), full(1);
  EXPECT_TRUE(full.push("there"));
  std::jthread consumer([&](const std::stop_token& stop) { EXPECT_FALSE(empty.pop(stop)); });
  std::jthread producer([&](const std::stop_token& stop) {
    std::string kept = "kept";
    EXPECT_FALSE(full.push(std::move(kept), stop));
    EXPECT_EQ(kept, "kept");
  });
  std::this_thread::sleep_for(20ms);
  consumer.request_stop();
  producer.request_stop();
  consumer.join();
  producer.join();
  EXPECT_TRUE(empty.push("later"));
  EXPECT_EQ(empty.pop(), "later");
  EXPECT_EQ(full.pop(), "there");
}

TEST(BlockingRing, StopsAndElementsAtOnce) {
  for (int round = 0; round < 200; ++round) {
    BlockingRing<int> ring(1);
    std::stop_source source;
    std::optional<int> popped;
    std::jthread consumer([&] { popped = ring.pop(source.get_token()); });
    std::jthread stopper([&] { source.request_stop(); });
    EXPECT_TRUE(ring.push(round));
    consumer.join();
    EXPECT_EQ(popped ? popped : ring.try_pop(), round);
  }
}

TEST(Deadlines, OfOtherClocksAndFarAway) {
  EXPECT_EQ(deadline_in(std::chrono::hours::max()), no_deadline);
  EXPECT_EQ(deadline_of(no_deadline), no_deadline);
  const Deadline before = deadline_in(-1s), long_ago = deadline_of(std::chrono::system_clock::time_point::min());
  EXPECT_LE(before, std::chrono::steady_clock::now());
  EXPECT_LE(long_ago, std::chrono::steady_clock::now());
  const Deadline soon = deadline_of(std::chrono::system_clock::now() + 1h);
  EXPECT_GT(soon, std::chrono::steady_clock::now() + 59min);
  EXPECT_LT(soon, std::chrono::steady_clock::now() + 61min);
}

}  // namespace
}  // namespace rml
