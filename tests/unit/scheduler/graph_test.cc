// Networks of operations: ends, feedback, deadlocks, values, runs. Also built with
// ThreadSanitizer.
#include "runtime/scheduler/graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "tests/unit/scheduler/numbers.h"

namespace {

using namespace std::chrono_literals;
using namespace rml::test;

// ---- ends

TEST(graph, ends_with_its_shortest_operand) {
  for (const unsigned workers : {1u, 2u}) {
    Numbers graph(workers);
    std::vector<std::int64_t> got;
    const auto a = graph.generator("a", count_to(10)), b = graph.source("b", 100, Numbers::always);
    const auto add = graph.operation("add", 2, sum);
    const auto sink = graph.sink("sink", [&](std::int64_t x) { got.push_back(x); });
    graph.connect(b, add, 0);
    graph.connect(a, add, 1);
    graph.connect(add, sink, 0);
    expect_well(graph);
    EXPECT_EQ(got, (std::vector<std::int64_t>{100, 101, 102, 103, 104, 105, 106, 107, 108, 109}));
    EXPECT_EQ(graph.state(b), State::done);
  }
}

// x is missing and depends on the output of the node itself; nevertheless the end of y ends the
// node.
TEST(graph, ends_while_another_operand_is_missing) {
  Numbers graph(2);
  const auto y = graph.generator("y", count_to(5));
  const auto node = graph.operation("node", 2, sum);
  const auto x = graph.operation("x", 1, sum);
  graph.connect(node, x, 0);
  graph.connect(x, node, 0, 1, {7});
  graph.connect(y, node, 1, 1);
  expect_well(graph);
  EXPECT_EQ(graph.rounds(node), 5);

  Numbers stuck(2);  // a similar ring without an initial value: no round at all, and no deadlock
  const auto none = stuck.generator("none", count_to(0));
  const auto one = stuck.operation("one", 2, sum), other = stuck.operation("other", 1, sum);
  stuck.connect(one, other, 0);
  stuck.connect(other, one, 0);
  stuck.connect(none, one, 1);
  expect_well(stuck);
}

TEST(graph, a_consumer_that_has_ended_holds_nobody_up) {
  Numbers graph(2);
  const auto a = graph.generator("a", count_to(1000));
  const auto few = graph.generator("few", count_to(3));
  const auto zip = graph.operation("zip", 2, sum), all = graph.operation("all", 1, sum);
  graph.connect(a, zip, 0, 1);
  graph.connect(few, zip, 1, 1);
  graph.connect(a, all, 0, 1);
  expect_well(graph);
  EXPECT_EQ(graph.rounds(zip), 3);
  EXPECT_EQ(graph.rounds(all), 1000);
  EXPECT_EQ(graph.result(all), 999);
}

// ---- feedback and deadlocks

TEST(graph, feedback_begins_with_its_initial_value) {
  for (const std::size_t capacity : {1u, 2u, 64u}) {
    Numbers graph(2);
    const auto x = graph.generator("x", count_to(101));
    const auto total = graph.operation("total", 2, sum);
    graph.connect(x, total, 0, capacity);
    graph.connect(total, total, 1, capacity, {1000});
    graph.keep(total);
    for (int k = 0; k < 2; ++k) {
      expect_well(graph);
      EXPECT_EQ(graph.result(total), 6050);
    }
  }
}

// p sends to n immediately although its edge to m, which holds one value, is full: m waits for n.
TEST(graph, a_full_edge_does_not_hold_the_others_up) {
  Numbers graph(1);
  const auto p = graph.generator("p", count_to(20));
  const auto m = graph.operation("m", 2, [](Operands x) { return 100 * x[0] + x[1]; });
  const auto n = graph.operation("n", 1, sum);
  graph.connect(p, m, 0, 1, {-1});
  graph.connect(p, n, 0, 1);
  graph.connect(n, m, 1, 1);
  expect_well(graph);
  EXPECT_EQ(graph.result(m), 1800 + 19);
}

TEST(graph, a_loop_without_an_initial_value_is_a_deadlock) {
  Numbers graph(2);
  const auto x = graph.source("x", 1, Numbers::always);
  const auto a = graph.operation("a", 2, sum), b = graph.operation("b", 1, sum), c = graph.operation("c", 1, sum);
  graph.connect(x, a, 0, 4);
  graph.connect(a, b, 0);
  graph.connect(b, a, 1);
  graph.connect(b, c, 0);
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::deadlock);
  const std::string from_a = "deadlock: a waits for operand 1, from b; b waits for operand 0, from a. ";
  const std::string from_b = "deadlock: b waits for operand 0, from a; a waits for operand 1, from b. ";
  const std::string rest = "4 of 4 nodes wait. A feedback loop begins with an initial value";
  EXPECT_TRUE(errors[0].message == from_a + rest || errors[0].message == from_b + rest) << errors[0].message;
  EXPECT_EQ(graph.rounds(x), 4);
  EXPECT_EQ(graph.state(c), State::cancelled);
}

TEST(graph, a_node_that_waits_for_itself) {
  Numbers graph(1);
  const auto a = graph.operation("a", 1, sum);
  graph.connect(a, a, 0);
  EXPECT_EQ(rml::rt::text(graph.run()),
            "0:deadlock: a waits for operand 0, from a. 1 of 1 nodes wait. A feedback loop begins with an initial "
            "value\n");
}

TEST(graph, what_edges_can_be) {
  Numbers graph(1);
  const auto a = graph.operation("a", 1, sum);
  const auto sink = graph.sink("sink", [](std::int64_t) {});
  EXPECT_EQ(failure([&] { graph.connect(a, a, 0, 0); }), "a to a: an edge has a capacity of at least 1");
  EXPECT_EQ(failure([&] { graph.connect(a, a, 0, 2, {1, 2, 3}); }), "a to a: 3 initial values, but it holds 2");
  EXPECT_EQ(failure([&] { graph.connect(sink, a, 0); }), "sink to a: a sink emits nothing");
}

// ---- values

TEST(graph, values_that_can_only_be_moved) {
  Graph<std::unique_ptr<int>> graph(2);
  const auto a = graph.generator("a", [](std::int64_t round) -> std::optional<std::unique_ptr<int>> {
    if (round == 100) return std::nullopt;
    return std::make_unique<int>(static_cast<int>(round));
  });
  const auto next = graph.operation("next", 1, [](std::span<std::unique_ptr<int>> x) {
    ++*x[0];
    return std::move(x[0]);
  });
  graph.connect(a, next, 0);
  EXPECT_EQ(failure([&] { graph.connect(a, next, 0); }),
            "a to next: its values cannot be copied, and have one consumer already");
  EXPECT_TRUE(graph.run().empty());
  EXPECT_EQ(**graph.result(next), 100);
}

struct Copies {
  std::atomic<int>* count;
  explicit Copies(std::atomic<int>& count) : count(&count) {}
  Copies(const Copies& other) : count(other.count) { ++*count; }
  Copies(Copies&&) noexcept = default;
  Copies& operator=(const Copies&) = delete;
  Copies& operator=(Copies&&) noexcept = default;
};

TEST(graph, values_are_copied_once_less_than_there_are_consumers) {
  std::atomic<int> copies{0};
  Graph<Copies> graph(1);
  const auto a = graph.generator("a", [&](std::int64_t round) {
    return round < 10 ? std::optional<Copies>(std::in_place, copies) : std::nullopt;
  });
  for (int k = 0; k < 3; ++k) graph.connect(a, graph.sink("sink", [](Copies) {}), 0);
  EXPECT_TRUE(graph.run().empty());
  EXPECT_EQ(copies, 20);
}

TEST(graph, a_copy_that_fails_is_the_nodes_error) {
  struct Bad {
    Bad() = default;
    Bad(const Bad&) { throw std::runtime_error("cannot be copied today"); }
    Bad(Bad&&) noexcept = default;
    Bad& operator=(const Bad&) = default;
    Bad& operator=(Bad&&) noexcept = default;
  };
  Graph<Bad> graph(1);
  const auto a = graph.generator("a", [](std::int64_t) { return std::optional<Bad>(std::in_place); });
  for (int k = 0; k < 2; ++k) graph.connect(a, graph.sink("sink", [](Bad) {}), 0);
  EXPECT_EQ(rml::rt::text(graph.run()), "0:cannot be copied today\n");
}

TEST(graph, nothing_is_left_of_values_after_a_cancelled_run) {
  const auto value = std::make_shared<const int>(1);
  {
    Graph<std::shared_ptr<const int>> graph(2);
    int limit = 3;
    const auto a =
        graph.generator("a", [&](std::int64_t round) { return round < 50 ? std::optional(value) : std::nullopt; });
    const auto b = graph.operation("b", 1, [&, n = 0](std::span<std::shared_ptr<const int>> x) mutable {
      if (++n == limit) throw std::runtime_error("error");
      return x[0];
    });
    graph.connect(a, b, 0, 8);
    EXPECT_EQ(graph.run().size(), 1u);
    limit = -1;
    EXPECT_TRUE(graph.run().empty());
    EXPECT_EQ(graph.rounds(b), 50);
  }
  EXPECT_EQ(value.use_count(), 1);
}

// ---- runs

TEST(graph, one_run_at_a_time) {
  Numbers graph(2);
  std::string within, changed;
  graph.generator("a", [&](std::int64_t round) -> std::optional<std::int64_t> {
    if (round > 0) return std::nullopt;
    within = rml::rt::text(graph.run());
    changed = failure([&] { graph.source("b", 1); });
    return 1;
  });
  expect_well(graph);
  EXPECT_EQ(within, "the graph runs already\n");
  EXPECT_EQ(changed, "the graph cannot be changed while it runs");
}

int threads_of_this_process() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// Threads remain between runs and end with the graph.
TEST(graph, close_ends_its_threads) {
  const int before = threads_of_this_process();
  for (const bool closes : {true, false}) {
    Numbers graph(7);
    graph.source("a", 1);
    for (int run = 0; run < 20; ++run) expect_well(graph);
    EXPECT_EQ(threads_of_this_process(), before + 7);
    if (!closes) continue;
    graph.close();
    while (threads_of_this_process() > before) std::this_thread::yield();
  }
  while (threads_of_this_process() > before) std::this_thread::yield();
}

TEST(graph, a_sinks_error_names_it_and_its_round) {
  Numbers graph(2);
  const auto a = graph.generator("a", count_to(100));
  const auto bad = graph.sink("bad", [](std::int64_t x) {
    if (x == 4) throw std::runtime_error("full");
  });
  graph.connect(a, bad, 0);
  for (int run = 0; run < 3; ++run) {
    const auto errors = graph.run();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].node, bad);
    EXPECT_EQ(errors[0].name, "bad");
    EXPECT_EQ(errors[0].round, 4);
    EXPECT_EQ(graph.state(bad), State::failed);
  }
}

// Several threads request runs at the same time. Each run is exclusive or is refused.
TEST(graph, runs_of_several_threads) {
  Numbers graph(2);
  std::atomic<int> inside{0}, ran{0}, refused{0};
  graph.generator("a", [&](std::int64_t round) -> std::optional<std::int64_t> {
    if (round == 0) {
      EXPECT_EQ(inside++, 0);
    }
    if (round < 50) return round;
    EXPECT_EQ(--inside, 0);
    return std::nullopt;
  });
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int k = 0; k < 50; ++k) {
          const auto errors = graph.run();
          errors.empty() ? ++ran : ++refused;
          EXPECT_TRUE(errors.empty() || errors[0].message == "the graph runs already");
        }
      });
  }
  EXPECT_GT(ran, 0);
  EXPECT_EQ(ran + refused, 200);
}

TEST(graph, closed_while_it_runs) {
  Numbers graph(2);
  const auto a = graph.source("a", 1, Numbers::always);
  std::jthread closer([&] {
    while (graph.rounds(a) < 100) std::this_thread::yield();
    graph.close();
  });
  EXPECT_EQ(rml::rt::text(graph.run()), "cancelled: the graph was closed: 1 of 1 nodes had not ended\n");
}

TEST(graph, stopped_before_it_runs) {
  Numbers graph(2);
  const auto a = graph.source("a", 1, Numbers::always);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(graph.run(stop.get_token()).size(), 1u);
  EXPECT_EQ(graph.rounds(a), 0);
}

TEST(graph, a_deadline) {
  Numbers graph(2);
  graph.source("a", 1, Numbers::always);
  const auto errors = graph.run({}, Numbers::Clock::now() + 20ms);
  EXPECT_EQ(rml::rt::text(errors), "cancelled: the deadline has passed: 1 of 1 nodes had not ended\n");
  Numbers quick(2);
  quick.source("a", 1);
  EXPECT_TRUE(quick.run({}, Numbers::Clock::now() + 1h).empty());
}

}  // namespace
