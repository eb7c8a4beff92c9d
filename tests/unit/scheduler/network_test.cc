// Networks of tasks as in compiled programs (rml_network in rmlrt.h), written by hand: a chain,
// host ─▶ 0 ─▶ … ─▶ 99 ─▶ host, in which each task adds one. Also built with ThreadSanitizer,
// which does not instrument compiled code.
#include "runtime/scheduler/network.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/scheduler/resident.h"

namespace {

using namespace std::chrono_literals;
using rml::rt::Network;
using rml::rt::NetworkOptions;
using rml::test::sanitized;
using Clock = std::chrono::steady_clock;

constexpr std::size_t n_tasks = 100;

struct Ring {
  rml_ring ring;
  std::int64_t cursor, seen;
  char rest[RML_RING_LINE - 16];

  bool waiting() {
    if (seen <= cursor) seen = std::atomic_ref(ring.pushed).load(std::memory_order_acquire);
    return seen > cursor;
  }
  struct Element {
    std::int64_t& value;
    std::int64_t& key;
  };
  Element element(std::int64_t number) {
    void* data = std::atomic_ref(ring.data).load(std::memory_order_acquire);
    const std::uint64_t at = static_cast<std::uint64_t>(number) & static_cast<std::uint64_t*>(data)[-1];
    return {static_cast<std::int64_t*>(data)[at], static_cast<std::int64_t**>(data)[-2][at]};
  }
  Element front() { return element(cursor); }
  void advance() { std::atomic_ref(cursor).store(cursor + 1, std::memory_order_release); }
  void push(std::int64_t value, std::int64_t key) {
    const Element to = element(ring.pushed);
    to.value = value;
    to.key = key;
    std::atomic_ref(ring.pushed).store(ring.pushed + 1, std::memory_order_release);
  }
};

struct alignas(RML_RING_LINE) Own {
  rml_header header;
  std::int64_t cycle;
  std::uint8_t pending;
};

struct ChainState {
  rml_header header;
  std::array<Own, n_tasks> tasks;
  alignas(RML_RING_LINE) std::array<Ring, n_tasks + 1> rings;
};

// The task that fails, and the value at which it fails. Global, because tasks are functions.
std::size_t failing = n_tasks;
std::int64_t fails_at = 0;

ChainState& at(void* state) { return *static_cast<ChainState*>(state); }

template <std::size_t k>
std::int32_t ready(void* state, std::int64_t* key) {
  Ring& in = at(state).rings[k];
  if (!in.waiting()) return k + 1;
  *key = in.front().key;
  return 0;
}

template <std::size_t k>
std::int32_t step(void* state) {
  Own& own = at(state).tasks[k];
  Ring& in = at(state).rings[k];
  const std::int64_t value = in.front().value;
  if (k == failing && value == fails_at) {
    own.header.fault_cycle = own.cycle;
    return own.header.fault = RML_FAULT_ASSERT;
  }
  at(state).rings[k + 1].push(value + 1, own.header.pushed << RML_KEY_BITS | (k + 1));
  in.advance();
  std::atomic_ref(own.cycle).store(own.cycle + 1, std::memory_order_release);
  return RML_OK;
}

std::int32_t row_ready(void* state, std::int64_t* key) {
  ChainState& s = at(state);
  if (!s.rings[n_tasks].waiting()) return n_tasks + 1;
  *key = s.rings[n_tasks].front().key;
  return s.header.popped >= std::atomic_ref(s.header.pushed).load() ? RML_WAITS_CYCLE : 0;
}

std::int32_t push(void* state, const void* const* in, const std::uint8_t*) {
  ChainState& s = at(state);
  s.rings[0].push(*static_cast<const std::int64_t*>(in[0]), s.header.pushed << RML_KEY_BITS);
  std::atomic_ref(s.header.pushed).store(s.header.pushed + 1, std::memory_order_release);
  return RML_OK;
}

std::int32_t pop(void* state, void* const* out, std::uint8_t* present) {
  ChainState& s = at(state);
  *static_cast<std::int64_t*>(out[0]) = s.rings[n_tasks].front().value;
  *present = 1;
  s.rings[n_tasks].advance();
  ++s.header.popped;
  return 1;
}

// Number of bytes that a network holds.
std::atomic<std::int64_t> held{0};

void* grow(void*, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) {
  held += static_cast<std::int64_t>(new_bytes) - static_cast<std::int64_t>(old_bytes);
  std::free(old);
  return new_bytes > 0 ? std::aligned_alloc(64, new_bytes) : nullptr;
}

class Chain {
 public:
  explicit Chain(std::size_t fails = n_tasks, std::int64_t at_value = 0) : state_(std::make_unique<ChainState>()) {
    failing = fails;
    fails_at = at_value;
    state_->header.grow = grow;
    fill(std::make_index_sequence<n_tasks>());
    for (std::uint32_t q = 0; q <= n_tasks; ++q) {
      numbers_[q] = q;
      memories_[q].kind = RML_QUEUE;
      memories_[q].count = 1;
      queues_[q] = {q,
                    offsetof(ChainState, rings) + q * sizeof(Ring),
                    sizeof(std::int64_t),
                    q == 0 ? UINT32_MAX : q - 1,
                    q == n_tasks ? &host_ : &numbers_[q],
                    nullptr};
    }
    network_.n_tasks = n_tasks;
    network_.n_queues = n_tasks + 1;
    network_.tasks = tasks_.data();
    network_.queues = queues_.data();
    network_.n_inputs = network_.n_outputs = 1;
    network_.inputs = &numbers_[0];
    network_.outputs = &numbers_[n_tasks];
    network_.ready = row_ready;
    program_.name = program_.source = "chain";
    program_.memories = memories_.data();
    program_.push = push;
    program_.pop = pop;
    program_.network = &network_;
  }
  const rml_program& program() const { return program_; }
  ChainState& state() { return *state_; }

 private:
  template <std::size_t... k>
  void fill(std::index_sequence<k...>) {
    (fill_task(k, ready<k>, step<k>), ...);
  }
  void fill_task(std::uint32_t k, std::int32_t (*ready)(void*, std::int64_t*), std::int32_t (*step)(void*)) {
    rml_task& task = tasks_[k];
    task.name = "task";
    task.base = 1;
    task.can_fail = k == failing;
    task.n_reads = task.n_writes = 1;
    task.reads = &numbers_[k];
    task.writes = &numbers_[k + 1];
    task.header = offsetof(ChainState, tasks) + k * sizeof(Own);
    task.cycle = task.header + offsetof(Own, cycle);
    task.length = UINT64_MAX;
    task.pending = task.header + offsetof(Own, pending);
    task.ready = ready;
    task.step = step;
  }

  std::unique_ptr<ChainState> state_;
  const std::uint32_t host_ = UINT32_MAX;
  std::array<std::uint32_t, n_tasks + 1> numbers_{};
  std::array<rml_memory, n_tasks + 1> memories_{};
  std::array<rml_queue, n_tasks + 1> queues_{};
  std::array<rml_task, n_tasks> tasks_{};
  rml_network network_{};
  rml_program program_{};
};

bool push_one(Network& network, std::int64_t value) {
  const void* in = &value;
  return network.push(&in, nullptr);
}

bool pop_one(Network& network, std::int64_t& value) {
  void* out = &value;
  std::uint8_t present = 0;
  return network.pop(&out, &present);
}

// Pushes 0, 1, … until `count` values are pushed, or the network takes no more.
std::jthread feeder(Network& network, std::int64_t count) {
  return std::jthread([&network, count] {
    for (std::int64_t n = 0; n < count && push_one(network, n);) ++n;
    network.close();
  });
}

TEST(network, many_values_pass_a_hundred_tasks_without_growth_of_memory) {
  for (const unsigned workers : {1u, 2u, 4u})
    for (const std::uint64_t capacity : {1u, 0u}) {
      const std::int64_t count = (capacity == 1 ? 2'000 : 50'000) / (sanitized ? 10 : 1);
      Chain chain;
      {
        Network network(chain.program(), &chain.state(), {workers, capacity, nullptr});
        const std::jthread feeding = feeder(network, count);
        std::int64_t value = 0;
        double resident = 0;
        for (std::int64_t n = 0; n < count; ++n) {
          ASSERT_TRUE(pop_one(network, value));
          ASSERT_EQ(value, n + static_cast<std::int64_t>(n_tasks));
          if (n == count / 2) resident = rml::test::resident_mib();
        }
        EXPECT_FALSE(pop_one(network, value));
        EXPECT_TRUE(network.settled());
        if (!sanitized) {
          EXPECT_LT(rml::test::resident_mib(), resident + 1);
        }
        // Blocks double as they fill up, and old ones are kept.
        const std::int64_t elements = capacity == 1 ? 4 : 2 * 256;
        EXPECT_LE(held, static_cast<std::int64_t>(n_tasks + 1) * (elements * 16 + 10 * 3 * 64)) << workers;
      }
      EXPECT_EQ(held, 0);
    }
}

TEST(network, one_thread_that_pushes_and_pops) {
  for (const std::uint64_t capacity : {1u, 3u, 0u}) {
    const std::int64_t count = sanitized ? 300 : 1'000;
    Chain chain;
    Network network(chain.program(), &chain.state(), {2, capacity, nullptr});
    std::int64_t pushed = 0, popped = 0, value = 0;
    void* out = &value;
    std::uint8_t present = 0;
    for (;;) {
      const std::uint32_t seen = network.changes();
      bool moved = false;
      if (const void* in = &pushed; pushed < count && network.try_push(&in, nullptr) == Network::Taken::yes) {
        moved = true;
        if (++pushed == count) network.close();
      }
      const Network::Row row = network.try_pop(&out, &present);
      if (row == Network::Row::ended) break;
      if (row == Network::Row::there) {
        ASSERT_EQ(value, popped++ + static_cast<std::int64_t>(n_tasks));
      }
      if (!moved && row == Network::Row::none) network.wait(seen);
    }
    EXPECT_EQ(popped, count);
  }
}

TEST(network, it_is_cancelled_within_ten_milliseconds) {
  constexpr auto wanted = sanitized ? 100ms : 10ms;
  auto least = Clock::duration::max();
  for (int k = 0; k < 3 || (k < 300 && least > wanted); ++k) {
    Chain chain;
    Network network(chain.program(), &chain.state(), {2, 0, nullptr});
    std::atomic<std::int64_t> rows{0};
    std::jthread feeding = feeder(network, INT64_MAX);
    std::jthread taking([&] {
      for (std::int64_t value = 0; pop_one(network, value);) ++rows;
    });
    while (rows < 100) std::this_thread::yield();
    const auto asked = Clock::now();
    network.stop();
    feeding.join();
    taking.join();
    least = std::min(least, Clock::now() - asked);
    EXPECT_FALSE(push_one(network, 0));
  }
  EXPECT_LE(least, wanted);
}

// Running tasks finish their instant, and nothing remains of the network.
TEST(network, it_is_destroyed_while_its_tasks_run) {
  for (int k = 0; k < (sanitized ? 50 : 500); ++k) {
    Chain chain;
    {
      Network network(chain.program(), &chain.state(), {1u + k % 3, static_cast<std::uint64_t>(k % 4), nullptr});
      std::int64_t value = 0;
      for (int n = 0; n < k % 7; ++n) ASSERT_TRUE(push_one(network, n));
      network.announce();
      if (k % 7 > 0 && k % 2 == 0) {
        ASSERT_TRUE(pop_one(network, value));
      }
    }
    EXPECT_EQ(held, 0);
  }
}

// When nothing runs, a thread checks which tasks wait for room. Meanwhile a cycle may arrive, and
// its first task may fail.
TEST(network, a_fault_while_somebody_looks_who_waits) {
  for (int k = 0; k < 300; ++k) {
    Chain chain(0, 1);
    Network network(chain.program(), &chain.state(), {2, 1, nullptr});
    std::jthread feeding([&network, k] {
      for (std::int64_t n = 0; push_one(network, n); ++n) {
        network.announce();
        std::this_thread::sleep_for(std::chrono::microseconds(5 * (k % 60)));
      }
      network.close();
    });
    std::int64_t rows = 0, value = 0;
    while (pop_one(network, value)) ++rows;
    EXPECT_EQ(rows, 1);
  }
}

TEST(network, a_fault_in_one_of_a_hundred_tasks) {
  for (const std::size_t task : {0, 57, 99})
    for (const std::int64_t cycle : {0, 1, 700})
      for (const unsigned workers : {1u, 3u}) {
        Chain chain(task, cycle + static_cast<std::int64_t>(task));
        Network network(chain.program(), &chain.state(), {workers, 0, nullptr});
        std::jthread feeding = feeder(network, INT64_MAX);
        std::int64_t rows = 0;
        for (std::int64_t value = 0; pop_one(network, value); ++rows)
          ASSERT_EQ(value, rows + static_cast<std::int64_t>(n_tasks));
        EXPECT_EQ(rows, cycle);
        EXPECT_TRUE(network.failed());
        EXPECT_EQ(network.failures(), std::vector{static_cast<std::uint32_t>(task)});
        feeding.join();
        network.report();
        EXPECT_EQ(chain.state().header.fault, RML_FAULT_ASSERT);
        EXPECT_EQ(chain.state().header.fault_cycle, cycle);
      }
}

}  // namespace
