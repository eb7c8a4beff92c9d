// Networks of tasks: the number of values per second that pass through a chain, and the gain from
// a second processor in a pipeline with long stages.
//
//     network              chains: 2 and 100 nodes, 1 and 2 workers, several capacities
//     network pipeline     one thread against a pipeline of two equal stages on two workers
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>

#include "runtime/scheduler/graph.h"

namespace {

using rml::rt::Graph;
using Numbers = Graph<std::int64_t>;
using Operands = std::span<std::int64_t>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double seconds(Numbers& graph) {
  const auto start = std::chrono::steady_clock::now();
  if (const auto errors = graph.run(); !errors.empty()) std::fputs(rml::rt::text(errors).c_str(), stderr);
  return seconds_since(start);
}

// Returns millions of messages per second, the best of several runs. A message is a value that passes one edge.
double chain(int nodes, unsigned workers, std::size_t capacity) {
  constexpr std::int64_t messages = 4'000'000;
  const std::int64_t rounds = messages / (nodes - 1);
  Numbers graph(workers);
  auto from = graph.generator("from", [=](std::int64_t k) { return k < rounds ? std::optional(k) : std::nullopt; });
  for (int k = 1; k < nodes; ++k) {
    const auto to = graph.operation("next", 1, [](Operands x) { return x[0] + 1; });
    graph.connect(from, to, 0, capacity);
    from = to;
  }
  double best = 1e9;
  for (int k = 0; k < 7; ++k) best = std::min(best, seconds(graph));
  return 1e-6 * static_cast<double>(messages) / best;
}

// Dependent operations, so that their time is proportional to `steps`.
std::int64_t work(std::int64_t x, std::int64_t steps) {
  auto state = static_cast<std::uint64_t>(x) | 1;
  for (std::int64_t k = 0; k < steps; ++k) state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<std::int64_t>(state);
}

volatile std::int64_t result;

std::int64_t steps_in(double wanted) {
  constexpr std::int64_t some = 2'000'000;
  double best = 1e9;
  for (int k = 0; k < 10; ++k) {
    const auto start = std::chrono::steady_clock::now();
    result = work(k, some);
    best = std::min(best, seconds_since(start));
  }
  return static_cast<std::int64_t>(static_cast<double>(some) * wanted / best);
}

void pipeline(double stage, std::size_t capacity) {
  const std::int64_t steps = steps_in(stage);
  const auto rounds = static_cast<std::int64_t>(0.02 / stage);
  Numbers graph(2);
  const auto from =
      graph.generator("from", [=](std::int64_t k) { return k < rounds ? std::optional(k) : std::nullopt; });
  const auto stage_work = [=](Operands x) { return work(x[0], steps); };
  const auto a = graph.operation("a", 1, stage_work), b = graph.operation("b", 1, stage_work);
  graph.connect(from, a, 0, capacity);
  graph.connect(a, b, 0, capacity);
  double one = 1e9, two = 1e9;
  for (int k = 0; k < 15; ++k) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t last = 0;
    for (std::int64_t round = 0; round < rounds; ++round) last = work(work(round, steps), steps);
    result = last;
    one = std::min(one, seconds_since(start));
    two = std::min(two, seconds(graph));
    if (graph.result(b) != last) std::fputs("not the same\n", stderr);
  }
  std::printf("| %3.0f | %4zu | %6.2f | %6.2f | %4.2f |\n", stage * 1e6, capacity,
              1e6 * one / static_cast<double>(rounds), 1e6 * two / static_cast<double>(rounds), one / two);
}

}  // namespace

int main(int n, char** arguments) {
  if (n > 1 && std::strcmp(arguments[1], "pipeline") == 0) {
    std::puts("| µs a stage | capacity | one thread, µs a value | two workers | x |\n|---|---|---|---|---|");
    for (const double stage : {5e-6, 20e-6, 100e-6}) {
      for (const std::size_t capacity : {1u, 2u, 16u}) pipeline(stage, capacity);
    }
    return 0;
  }
  std::puts("| nodes | workers | capacity | million messages a second |\n|---|---|---|---|");
  for (const int nodes : {2, 100}) {
    for (const unsigned workers : {1u, 2u}) {
      for (const std::size_t capacity : {1u, 2u, 16u, 64u, 1024u})
        std::printf("| %3d | %u | %4zu | %6.2f |\n", nodes, workers, capacity, chain(nodes, workers, capacity));
    }
  }
}
