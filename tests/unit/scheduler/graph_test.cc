// Networks of operations: first every behaviour that the tests of Gorgonia's GoMachine check, then ours. Also built
// with ThreadSanitizer.
#include "runtime/scheduler/graph.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <numeric>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/unit/scheduler/resident.h"

namespace {

using namespace std::chrono_literals;
using rml::rt::Failure;
using rml::rt::Graph;
using rml::rt::GraphError;
using State = rml::rt::GraphNode::State;
using Kind = GraphError::Kind;
using Operands = std::span<std::int64_t>;
using Numbers = Graph<std::int64_t>;

std::int64_t sum(Operands x) { return std::accumulate(x.begin(), x.end(), std::int64_t{0}); }

// What it throws, or nothing.
template <typename Action>
std::string failure(const Action& action) {
  try {
    action();
  } catch (const Failure& error) {
    return error.what();
  }
  return "";
}

Numbers::Generator count_to(std::int64_t n) {
  return [n](std::int64_t round) { return round < n ? std::optional(round) : std::nullopt; };
}

void expect_well(Numbers& graph, std::stop_token stop = {}) {
  const std::vector<GraphError> errors = graph.run(std::move(stop));
  EXPECT_EQ(rml::rt::text(errors), "");
}

// ---- GoMachine: receiveInput ----

TEST(gomachine, receive_cancelled_stops) {
  Numbers graph(2);
  const auto never = graph.generator("never", [&](std::int64_t) -> std::optional<std::int64_t> {
    while (!graph.stopping()) std::this_thread::yield();
    return std::nullopt;
  });
  const auto node = graph.operation("node", 1, sum);
  graph.connect(never, node, 0);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (graph.state(never) != State::computing) std::this_thread::yield();
    stop.request_stop();
  });
  const auto errors = graph.run(stop.get_token());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::cancelled);
  EXPECT_EQ(graph.state(node), State::cancelled);
  EXPECT_EQ(graph.result(node), std::nullopt);
}

TEST(gomachine, receive_bad_position) {
  Numbers graph(1);
  const auto a = graph.source("a", 1), add = graph.operation("add", 2, sum);
  EXPECT_EQ(failure([&] { graph.connect(a, add, 2); }), "a to add: there is no operand 2, it takes 2");
}

TEST(gomachine, receive_more_to_come_waits) {
  Numbers graph(2);
  std::binary_semaphore first_is_there{0};
  const auto a = graph.source("a", 1);
  const auto b = graph.generator("b", [&](std::int64_t round) {
    if (round == 0) first_is_there.acquire();
    return round == 0 ? std::optional<std::int64_t>(2) : std::nullopt;
  });
  const auto add = graph.operation("add", 2, sum);
  graph.connect(a, add, 0);
  graph.connect(b, add, 1);
  std::jthread looker([&] {
    while (graph.state(a) != State::done) std::this_thread::yield();
    EXPECT_EQ(graph.state(add), State::waiting);
    first_is_there.release();
  });
  expect_well(graph);
  EXPECT_EQ(graph.result(add), 3);
}

TEST(gomachine, receive_without_operands_computes) {
  Numbers graph(1);
  const auto node = graph.generator("node", count_to(1));
  expect_well(graph);
  EXPECT_EQ(graph.result(node), 0);
}

TEST(gomachine, receive_complete_computes) {
  Numbers graph(1);
  const auto a = graph.source("a", 5), twice = graph.operation("twice", 1, [](Operands x) { return 2 * x[0]; });
  graph.connect(a, twice, 0);
  expect_well(graph);
  EXPECT_EQ(graph.result(twice), 10);
}

// ---- computeFwd, ComputeForward, computeBackward ----

TEST(gomachine, compute_success_emits) {
  Numbers graph(1);
  std::vector<std::int64_t> got;
  const auto a = graph.source("a", 7), same = graph.operation("same", 1, sum);
  const auto sink = graph.sink("sink", [&](std::int64_t x) { got.push_back(x); });
  graph.connect(a, same, 0);
  graph.connect(same, sink, 0);
  expect_well(graph);
  EXPECT_EQ(got, std::vector<std::int64_t>{7});
}

TEST(gomachine, compute_failure_stops) {
  Numbers graph(1);
  const auto a = graph.source("a", 7);
  const auto bad = graph.operation("bad", 1, [](Operands) -> std::int64_t { throw std::runtime_error("error"); });
  const auto next = graph.operation("next", 1, sum);
  graph.connect(a, bad, 0);
  graph.connect(bad, next, 0);
  EXPECT_EQ(graph.run().size(), 1u);
  EXPECT_EQ(graph.state(bad), State::failed);
  EXPECT_EQ(graph.state(next), State::cancelled);
  EXPECT_EQ(graph.result(next), std::nullopt);
}

// A node without an operation is a source of a preset value. Nodes have one state for all directions: a backward
// pass is part of the graph.
TEST(gomachine, compute_without_operation_is_the_preset_value) {
  Numbers graph(1);
  const auto a = graph.source("a", 42);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), 42);
  EXPECT_EQ(graph.state(a), State::done);
}

// ---- emitOutput, newOp, newInput ----

TEST(gomachine, emit_no_such_node) {
  Numbers graph(1);
  const auto a = graph.source("a", 1);
  EXPECT_EQ(failure([&] { graph.connect(a, 17, 0); }), "there is no node 17");
  EXPECT_EQ(failure([&] { graph.connect(17, a, 0); }), "there is no node 17");
  EXPECT_EQ(failure([&] { (void)graph.result(17); }), "there is no node 17");
}

TEST(gomachine, emit_cancelled_stops) {
  Numbers graph(2);
  const auto a = graph.source("a", 1, Numbers::always);
  const auto slow = graph.operation("slow", 1, [&](Operands x) {
    while (!graph.stopping()) std::this_thread::yield();
    return x[0];
  });
  graph.connect(a, slow, 0, 1);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (graph.state(a) != State::emitting || graph.rounds(a) < 1) std::this_thread::yield();
    stop.request_stop();
  });
  const auto errors = graph.run(stop.get_token());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "cancelled, since a stop was asked for: 2 of 2 nodes had not ended");
  EXPECT_EQ(graph.state(a), State::cancelled);
}

TEST(gomachine, emit_with_and_without_consumer) {
  Numbers graph(1);
  const auto a = graph.source("a", 3), b = graph.source("b", 4), same = graph.operation("same", 1, sum);
  graph.connect(a, same, 0);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), std::nullopt);  // the consumer has it
  EXPECT_EQ(graph.result(b), 4);
  EXPECT_EQ(graph.result(same), 3);
  graph.keep(a);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), 3);
}

TEST(gomachine, new_operation_has_places_as_its_arity) {
  Numbers graph(1);
  const auto a = graph.source("a", 1), add = graph.operation("add", 3, sum);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(failure([&] { graph.connect(a, add, k); }), "");
  EXPECT_EQ(failure([&] { graph.connect(a, add, 3); }), "a to add: there is no operand 3, it takes 3");
  EXPECT_EQ(failure([&] { graph.connect(a, add, 1); }), "a to add: operand 1 comes from a already");
  EXPECT_EQ(failure([&] { graph.connect(add, a, 0); }), "add to a: there is no operand 0, it takes 0");
  EXPECT_EQ(failure([&] { graph.operation("none", 0, sum); }),
            "none: an operation has operands; without any it is a source");
}

// ---- merge ----

TEST(gomachine, merge_positions_are_right_in_any_order) {
  for (const bool first_is_late : {false, true}) {
    Numbers graph(2);
    std::binary_semaphore other{0};
    const auto late = [&](std::int64_t value) {
      return [&, value](std::int64_t round) {
        if (round == 0) other.acquire();
        return round == 0 ? std::optional(value) : std::nullopt;
      };
    };
    const auto early = [&](std::int64_t value) {
      return [&, value](std::int64_t round) {
        if (round == 1) other.release();
        return round == 0 ? std::optional(value) : std::nullopt;
      };
    };
    const auto a = first_is_late ? graph.generator("a", late(50)) : graph.generator("a", early(50));
    const auto b = first_is_late ? graph.generator("b", early(8)) : graph.generator("b", late(8));
    const auto minus = graph.operation("minus", 2, [](Operands x) { return x[0] - x[1]; });
    graph.connect(b, minus, 1);
    graph.connect(a, minus, 0);
    expect_well(graph);
    EXPECT_EQ(graph.result(minus), 42);
  }
}

TEST(gomachine, merge_cancelled_after_one_value) {
  Numbers graph(2);
  const auto a = graph.source("a", 1);
  const auto never = graph.generator("never", [&](std::int64_t) -> std::optional<std::int64_t> {
    while (!graph.stopping()) std::this_thread::yield();
    return std::nullopt;
  });
  const auto add = graph.operation("add", 2, sum);
  graph.connect(a, add, 0);
  graph.connect(never, add, 1);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (graph.state(a) != State::done) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(graph.run(stop.get_token()).size(), 1u);
  EXPECT_EQ(graph.state(a), State::done);
  EXPECT_EQ(graph.state(add), State::cancelled);
  EXPECT_EQ(graph.rounds(add), 0);
}

// ---- broadcast, pubsub ----

TEST(gomachine, broadcast_both_consumers_get_the_value) {
  Graph<std::shared_ptr<const int>> graph(2);
  const auto same = [](std::span<std::shared_ptr<const int>> x) { return x[0]; };
  const auto a = graph.source("a", std::make_shared<const int>(9));
  const auto left = graph.operation("left", 1, same), right = graph.operation("right", 1, same);
  graph.connect(a, left, 0);
  graph.connect(a, right, 0);
  EXPECT_TRUE(graph.run().empty());
  EXPECT_EQ(**graph.result(left), 9);
  EXPECT_EQ(*graph.result(left), *graph.result(right));  // shared
}

TEST(gomachine, broadcast_cancelled) {
  Numbers graph(2);
  const auto a = graph.source("a", 1, Numbers::always);
  const auto hold = [&](Operands x) {
    while (!graph.stopping()) std::this_thread::yield();
    return x[0];
  };
  const auto free = graph.operation("free", 1, sum), held = graph.operation("held", 1, hold);
  graph.connect(a, free, 0, 1);
  graph.connect(a, held, 0, 1);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (graph.state(held) != State::computing) std::this_thread::yield();
    stop.request_stop();
  });
  EXPECT_EQ(graph.run(stop.get_token()).size(), 1u);
  EXPECT_EQ(graph.state(a), State::cancelled);
}

TEST(gomachine, one_publisher_twice_at_the_same_subscriber) {
  Numbers graph(1);
  const auto a = graph.generator("a", count_to(10));
  const auto pair = graph.operation("pair", 2, [](Operands x) { return 100 * x[0] + x[1]; });
  graph.connect(a, pair, 0);
  graph.connect(a, pair, 1);
  expect_well(graph);
  EXPECT_EQ(graph.result(pair), 909);
}

// ---- runAllNodes, NewMachine, Run, Close, GetResult, nodeErrors ----

TEST(gomachine, forty_and_two_run_twice) {
  Numbers graph(2);
  const auto a = graph.source("a", 40), b = graph.source("b", 2), add = graph.operation("add", 2, sum);
  graph.connect(a, add, 0);
  graph.connect(b, add, 1);
  for (int k = 0; k < 2; ++k) {
    expect_well(graph);
    EXPECT_EQ(graph.result(add), 42);
    EXPECT_EQ(graph.rounds(add), 1);
  }
}

TEST(gomachine, an_operations_error_surfaces) {
  Numbers graph(2);
  const auto before = std::chrono::system_clock::now();
  const auto bad = graph.generator("bad", [](std::int64_t round) -> std::optional<std::int64_t> {
    if (round == 3) throw std::runtime_error("error");
    return round;
  });
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::failed);
  EXPECT_EQ(errors[0].node, bad);
  EXPECT_EQ(errors[0].name, "bad");
  EXPECT_EQ(errors[0].round, 3);
  EXPECT_GE(errors[0].time, before);
  EXPECT_LE(errors[0].time, std::chrono::system_clock::now());
  EXPECT_EQ(rml::rt::text(errors), "0:error\n");
}

TEST(gomachine, all_errors_are_gathered) {
  Numbers graph(2);
  std::latch both(2);
  const auto fail = [&](std::int64_t) -> std::optional<std::int64_t> {
    both.arrive_and_wait();
    throw std::runtime_error("error");
  };
  graph.generator("a", fail);
  graph.generator("b", fail);
  const auto errors = graph.run();
  EXPECT_EQ(errors.size(), 2u);
  EXPECT_TRUE(rml::rt::text(errors) == "0:error\n1:error\n" || rml::rt::text(errors) == "1:error\n0:error\n");
}

TEST(gomachine, what_is_no_exception_is_an_error_too) {
  Numbers graph(1);
  graph.generator("a", [](std::int64_t) -> std::optional<std::int64_t> { throw 17; });
  EXPECT_EQ(rml::rt::text(graph.run()), "0:it has thrown what is no std::exception\n");
}

TEST(gomachine, no_graph) {
  Numbers graph(1);
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::malformed);
  EXPECT_EQ(rml::rt::text(errors), "the graph has no nodes\n");
}

TEST(gomachine, result_is_nothing_or_found) {
  Numbers graph(1);
  const auto a = graph.source("a", 1), none = graph.generator("none", count_to(0));
  EXPECT_EQ(graph.result(a), std::nullopt);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), 1);
  EXPECT_EQ(graph.result(none), std::nullopt);
}

TEST(gomachine, closed_twice) {
  Numbers graph(2);
  graph.source("a", 1);
  expect_well(graph);
  graph.close();
  graph.close();
  EXPECT_EQ(rml::rt::text(graph.run()), "the graph is closed\n");
  Numbers(1).close();
}

// There it waits forever.
TEST(gomachine, an_operation_without_its_operand) {
  Numbers graph(1);
  graph.operation("constant", 1, [](Operands) { return std::int64_t{1}; });
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::malformed);
  EXPECT_EQ(rml::rt::text(errors), "0:constant: operand 0 of 1 comes from nowhere\n");
}

// ---- Ours: ends ----

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

// x is missing, and depends on what the node itself would have to give; that y has ended is the end nevertheless.
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

  Numbers stuck(2);  // likewise without an initial value: no round at all, and no deadlock
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

// ---- Feedback and deadlocks ----

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

// p gives to n at once although its edge to m, which holds one value, is full: m waits for n.
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

// ---- Values ----

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

// ---- Runs ----

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
  EXPECT_EQ(changed, "the graph runs, and cannot be changed");
}

TEST(graph, closed_while_it_runs) {
  Numbers graph(2);
  const auto a = graph.source("a", 1, Numbers::always);
  std::jthread closer([&] {
    while (graph.rounds(a) < 100) std::this_thread::yield();
    graph.close();
  });
  EXPECT_EQ(rml::rt::text(graph.run()), "cancelled, since the graph was closed: 1 of 1 nodes had not ended\n");
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
  EXPECT_EQ(rml::rt::text(errors), "cancelled, since the deadline has passed: 1 of 1 nodes had not ended\n");
  Numbers quick(2);
  quick.source("a", 1);
  EXPECT_TRUE(quick.run({}, Numbers::Clock::now() + 1h).empty());
}

}  // namespace
