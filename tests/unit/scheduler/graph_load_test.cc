// Networks of operations at scale: many nodes, many values, random graphs. Also built with
// ThreadSanitizer, in smaller sizes. RML_TEST_MESSAGES is the number of values that the long runs
// pass on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "runtime/scheduler/graph.h"
#include "tests/unit/scheduler/resident.h"

namespace {

using namespace std::chrono_literals;
using rml::rt::Graph;
using rml::rt::GraphError;
using rml::test::sanitized;
using State = rml::rt::GraphNode::State;
using Operands = std::span<std::int64_t>;
using Numbers = Graph<std::int64_t>;
using Clock = Numbers::Clock;

std::int64_t next(Operands x) { return x[0] + 1; }

// Adds a chain of nodes after a source and returns the last one.
Numbers::Id chain(Numbers& graph, Numbers::Id from, int nodes, std::size_t capacity) {
  for (int k = 0; k < nodes; ++k) {
    const auto to = graph.operation("n" + std::to_string(k), 1, next);
    graph.connect(from, to, 0, capacity);
    from = to;
  }
  return from;
}

TEST(graph_load, a_hundred_thousand_tasks) {
  constexpr int n = sanitized ? 5'000 : 100'000;
  Numbers graph(2);
  std::int64_t got = 0;
  const auto last = chain(graph, graph.source("source", 0, 3), n, 1);
  graph.connect(last, graph.sink("sink", [&](std::int64_t x) { got += x; }), 0, 1);
  for (int run = 1; run <= 2; ++run) {
    EXPECT_EQ(rml::rt::text(graph.run()), "");
    EXPECT_EQ(got, std::int64_t{3} * n * run);
  }
}

TEST(graph_load, a_hundred_thousand_operands) {
  constexpr std::size_t n = sanitized ? 2'000 : 100'000;
  Numbers graph(2);
  const auto x = graph.source("x", 1, 2);
  const auto add = graph.operation("add", n, [](Operands all) {
    std::int64_t sum = 0;
    for (const std::int64_t x : all) sum += x;
    return sum;
  });
  for (std::size_t k = 0; k < n; ++k) graph.connect(x, add, k, 1);
  EXPECT_EQ(rml::rt::text(graph.run()), "");
  EXPECT_EQ(graph.result(add), static_cast<std::int64_t>(n));
}

// Back pressure bounds the number of values, so passing values on needs no further memory.
TEST(graph_load, values_pass_without_growth_of_memory) {
  const char* wanted = std::getenv("RML_TEST_MESSAGES");
  const std::int64_t messages = wanted != nullptr ? std::atoll(wanted) : sanitized ? 100'000 : 10'000'000;
  constexpr int nodes = 100;
  const std::int64_t rounds = messages / nodes;
  Numbers graph(2);
  double before = 0, after = 0;
  const auto from = graph.generator("from", [&](std::int64_t round) {
    if (round == rounds / 10) before = rml::test::resident_mib();
    if (round == rounds) after = rml::test::resident_mib();
    return round < rounds ? std::optional(round) : std::nullopt;
  });
  const auto last = chain(graph, from, nodes - 1, 16);
  EXPECT_EQ(rml::rt::text(graph.run()), "");
  EXPECT_EQ(graph.result(last), rounds - 1 + nodes - 1);
  if (!sanitized) {
    EXPECT_LT(after - before, 0.5) << before << " MiB before, " << after << " MiB after " << messages << " messages";
  }
}

// The time from the request to the end of the run, with many active nodes. On a busy machine
// threads may wait longer for a processor, so one good time of many counts.
TEST(graph_load, a_run_is_cancelled_within_ten_milliseconds) {
  Numbers graph(2);
  std::atomic<bool> runs{false};  // set when this run has begun: `graph.rounds` may still count those of the run before
  const auto from = graph.generator("from", [&](std::int64_t round) {
    if (round == 0) runs = true;
    return std::optional(round);
  });
  const auto last = chain(graph, from, sanitized ? 50 : 1000, 4);
  auto least = Clock::duration::max();
  constexpr auto wanted = sanitized ? 100ms : 10ms;
  for (int k = 0; k < 3 || (k < 300 && least > wanted); ++k) {
    std::stop_source stop;
    Clock::time_point asked;
    std::jthread stopper([&] {
      while (!runs.exchange(false)) std::this_thread::yield();
      while (graph.rounds(last) < 10) std::this_thread::yield();
      asked = Clock::now();
      stop.request_stop();
    });
    const auto errors = graph.run(stop.get_token());
    const auto ended = Clock::now();
    stopper.join();
    ASSERT_EQ(errors.size(), 1u);
    ASSERT_EQ(errors[0].kind, GraphError::Kind::cancelled);
    least = std::min(least, ended - asked);
  }
  EXPECT_LE(least, wanted);
}

TEST(graph_load, an_error_in_one_of_ten_thousand) {
  constexpr int n = sanitized ? 1'000 : 10'000;
  Numbers graph(2);
  const auto from = graph.source("from", 1, Numbers::always);
  auto bad = from;
  for (int k = 0; k < n; ++k) {
    const auto node = graph.operation("n" + std::to_string(k), 1, [k, round = 0](Operands x) mutable {
      if (k == n / 2 && ++round == 10) throw std::runtime_error("the tenth one is bad");
      return x[0];
    });
    graph.connect(from, node, 0, 2);
    if (k == n / 2) bad = node;
  }
  const auto errors = graph.run();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].node, bad);
  EXPECT_EQ(errors[0].round, 9);
  EXPECT_EQ(graph.state(bad), State::failed);
  for (Numbers::Id id = 0; id < graph.size(); ++id) {
    EXPECT_GE(graph.state(id), State::done);
  }
}

// ---- random graphs

struct Operand {
  std::size_t from;
  std::size_t n_initial;
};

// Operands without initial values come from earlier nodes, the others from any node.
struct Random {
  std::vector<std::vector<Operand>> nodes;
  std::vector<std::int64_t> lengths;  // lengths of the sources
};

Random random_graph(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return random() % n; };
  Random graph;
  graph.nodes.resize(2 + below(30));
  graph.lengths.resize(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    graph.lengths[n] = static_cast<std::int64_t>(below(60));
    if (n == 0 || below(5) == 0) continue;  // the node gets no operands: it is a source
    graph.nodes[n].push_back({below(n), 0});
    for (std::size_t k = below(4); k > 0; --k) {
      if (below(3) == 0)
        graph.nodes[n].push_back({below(graph.nodes.size()), 1 + below(3)});
      else
        graph.nodes[n].push_back({below(n), 0});
    }
  }
  return graph;
}

std::int64_t initial_value(std::size_t node, std::size_t position, std::size_t k) {
  return static_cast<std::int64_t>(1000 * node + 10 * position + k);
}

std::int64_t combine(std::size_t node, Operands x) {
  std::uint64_t h = node;
  for (const std::int64_t v : x) h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u + (h >> 29);
  return static_cast<std::int64_t>(h);
}

// All values of every node, computed round by round until no node can continue. A node whose
// values are no longer read may end early in a run; here none does.
std::vector<std::vector<std::int64_t>> evaluate(const Random& graph) {
  std::vector<std::vector<std::int64_t>> all(graph.nodes.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t n = 0; n < all.size(); ++n) {
      const std::size_t round = all[n].size();
      std::vector<std::int64_t> operands;
      for (const Operand& operand : graph.nodes[n]) {
        const std::size_t d = operand.n_initial;
        if (round < d)
          operands.push_back(initial_value(n, operands.size(), round));
        else if (round - d < all[operand.from].size())
          operands.push_back(all[operand.from][round - d]);
      }
      if (operands.size() < graph.nodes[n].size()) continue;
      if (graph.nodes[n].empty() && static_cast<std::int64_t>(round) == graph.lengths[n]) continue;
      all[n].push_back(graph.nodes[n].empty() ? static_cast<std::int64_t>(round) : combine(n, operands));
      more = true;
    }
  }
  return all;
}

// The values of each node must be a prefix of the expected ones, and all of them if a reader
// reads to the end.
void expect_same(const Random& shape, unsigned workers, std::size_t capacity) {
  const auto expected = evaluate(shape);
  Numbers graph(workers);
  std::vector<std::vector<std::int64_t>> got(shape.nodes.size());
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    const auto name = "n" + std::to_string(n);
    if (!shape.nodes[n].empty())
      graph.operation(name, shape.nodes[n].size(), [n](Operands x) { return combine(n, x); });
    else
      graph.generator(name, [length = shape.lengths[n]](std::int64_t round) {
        return round < length ? std::optional(round) : std::nullopt;
      });
  }
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    for (std::size_t k = 0; k < shape.nodes[n].size(); ++k) {
      const auto [from, n_initial] = shape.nodes[n][k];
      std::vector<std::int64_t> initial;
      for (std::size_t i = 0; i < n_initial; ++i) initial.push_back(initial_value(n, k, i));
      graph.connect(from, n, k, std::max(capacity, n_initial), std::move(initial));
    }
    graph.connect(n, graph.sink("look", [&got, n](std::int64_t x) { got[n].push_back(x); }), 0, capacity);
  }
  for (int run = 0; run < 2; ++run) {
    for (auto& values : got) values.clear();
    EXPECT_EQ(rml::rt::text(graph.run()), "");
    ASSERT_EQ(got, expected);
  }
}

TEST(graph_load, random_graphs_as_evaluated_one_by_one) {
  const int n = sanitized ? 8 : 100;
  for (int seed = 0; seed < n; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    const Random shape = random_graph(random);
    for (const unsigned workers : {1u, 2u, 8u}) {
      for (const std::size_t capacity : {1u, 2u, 64u}) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", workers " << workers << ", capacity " << capacity);
        expect_same(shape, workers, capacity);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// A run that was stopped anywhere leaves nothing for the next one.
TEST(graph_load, a_run_after_one_that_was_stopped) {
  Numbers graph(2);
  constexpr int n = 3000;
  const auto from =
      graph.generator("from", [](std::int64_t round) { return round < n ? std::optional(round) : std::nullopt; });
  const auto last = chain(graph, from, 20, 2);
  std::mt19937_64 random(1);
  for (int k = 0; k < (sanitized ? 20 : 100); ++k) {
    std::stop_source stop;
    std::jthread stopper([&, wait = random() % 500] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait));
      stop.request_stop();
    });
    const auto errors = graph.run(stop.get_token());
    EXPECT_LE(errors.size(), 1u);
    if (k % 10 != 0) continue;
    EXPECT_EQ(rml::rt::text(graph.run()), "");
    EXPECT_EQ(graph.result(last), n - 1 + 20);
  }
}

}  // namespace
