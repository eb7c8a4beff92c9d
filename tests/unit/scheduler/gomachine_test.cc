// Networks of operations: every behaviour that the tests of Gorgonia's GoMachine check. Also
// built with ThreadSanitizer.
#include "runtime/scheduler/graph.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/unit/scheduler/numbers.h"

namespace {

using namespace rml::test;

// ---- GoMachine: receiveInput

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
  EXPECT_EQ(failure([&] { graph.connect(a, add, 2); }), "a to add: operand 2 does not exist, it takes 2");
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

// ---- computeFwd, ComputeForward, computeBackward

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

// A node without an operation is a source of a preset value. A node has one state for all
// directions, since a backward pass is part of the graph.
TEST(gomachine, compute_without_operation_is_the_preset_value) {
  Numbers graph(1);
  const auto a = graph.source("a", 42);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), 42);
  EXPECT_EQ(graph.state(a), State::done);
}

// ---- emitOutput, newOp, newInput

TEST(gomachine, emit_no_such_node) {
  Numbers graph(1);
  const auto a = graph.source("a", 1);
  EXPECT_EQ(failure([&] { graph.connect(a, 17, 0); }), "no node has the number 17");
  EXPECT_EQ(failure([&] { graph.connect(17, a, 0); }), "no node has the number 17");
  EXPECT_EQ(failure([&] { (void)graph.result(17); }), "no node has the number 17");
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
  EXPECT_EQ(errors[0].message, "cancelled: a stop was requested: 2 of 2 nodes had not ended");
  EXPECT_EQ(graph.state(a), State::cancelled);
}

TEST(gomachine, emit_with_and_without_consumer) {
  Numbers graph(1);
  const auto a = graph.source("a", 3), b = graph.source("b", 4), same = graph.operation("same", 1, sum);
  graph.connect(a, same, 0);
  expect_well(graph);
  EXPECT_EQ(graph.result(a), std::nullopt);  // no result remains, because the consumer has taken the value
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
  EXPECT_EQ(failure([&] { graph.connect(a, add, 3); }), "a to add: operand 3 does not exist, it takes 3");
  EXPECT_EQ(failure([&] { graph.connect(a, add, 1); }), "a to add: operand 1 comes from a already");
  EXPECT_EQ(failure([&] { graph.connect(add, a, 0); }), "add to a: operand 0 does not exist, it takes 0");
  EXPECT_EQ(failure([&] { graph.operation("none", 0, sum); }),
            "none: an operation has operands; without any it is a source");
}

// ---- merge

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

// ---- broadcast, pubsub

TEST(gomachine, broadcast_both_consumers_get_the_value) {
  Graph<std::shared_ptr<const int>> graph(2);
  const auto same = [](std::span<std::shared_ptr<const int>> x) { return x[0]; };
  const auto a = graph.source("a", std::make_shared<const int>(9));
  const auto left = graph.operation("left", 1, same), right = graph.operation("right", 1, same);
  graph.connect(a, left, 0);
  graph.connect(a, right, 0);
  EXPECT_TRUE(graph.run().empty());
  EXPECT_EQ(**graph.result(left), 9);
  EXPECT_EQ(*graph.result(left), *graph.result(right));  // both results are the same object
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

TEST(gomachine, broadcast_cancelled_before_there_is_a_value) {
  Numbers graph(2);
  const auto never = graph.generator("never", [&](std::int64_t) -> std::optional<std::int64_t> {
    while (!graph.stopping()) std::this_thread::yield();
    return 1;
  });
  const auto left = graph.operation("left", 1, sum), right = graph.operation("right", 1, sum);
  graph.connect(never, left, 0);
  graph.connect(never, right, 0);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (graph.state(never) != State::computing) std::this_thread::yield();
    stop.request_stop();
  });
  const auto errors = graph.run(stop.get_token());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message, "cancelled: a stop was requested: 3 of 3 nodes had not ended");
  EXPECT_EQ(graph.rounds(left) + graph.rounds(right), 0);
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

// ---- runAllNodes, NewMachine, Run, Close, GetResult, nodeErrors

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

// Two publishers and a subscriber, each with its own edges.
TEST(gomachine, nodes_have_the_ids_they_were_given) {
  Numbers graph(1);
  const auto a = graph.source("a", 1), b = graph.source("b", 2), add = graph.operation("add", 2, sum);
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ((std::vector{a, b, add}), (std::vector<Numbers::Id>{0, 1, 2}));
  EXPECT_EQ(graph.name(a) + graph.name(b) + graph.name(add), "abadd");
  graph.connect(a, add, 0);
  graph.connect(b, add, 1);
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ(failure([&] { (void)graph.name(3); }), "no node has the number 3");
  EXPECT_EQ(failure([&] { (void)graph.state(3); }), "no node has the number 3");
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
  EXPECT_EQ(rml::rt::text(graph.run()), "0:it threw an exception that is not a std::exception\n");
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

// In GoMachine this node waits forever.
TEST(gomachine, an_operation_without_its_operand) {
  Numbers graph(1);
  graph.operation("constant", 1, [](Operands) { return std::int64_t{1}; });
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, Kind::malformed);
  EXPECT_EQ(rml::rt::text(errors), "0:constant: operand 0 of 1 has no source\n");
}

}  // namespace
