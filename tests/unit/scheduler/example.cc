// file: example.cc
#include <iostream>

#include "runtime/scheduler/graph.h"

using rml::rt::Graph;

int main() {
  Graph<double> graph(2);  // two workers

  // A source yields values until it has none; `round` counts from 0.
  const auto x = graph.generator(
      "x", [](std::int64_t round) { return round < 5 ? std::optional(static_cast<double>(round)) : std::nullopt; });
  const auto half = graph.source("half", 0.5, Graph<double>::always);

  // smooth = half * x + (1 - half) * previous smooth
  const auto smooth = graph.operation("smooth", 3, [](std::span<double> v) { return v[0] * v[1] + (1 - v[0]) * v[2]; });
  graph.connect(half, smooth, 0);
  graph.connect(x, smooth, 1, 64);             // an edge that holds 64 values
  graph.connect(smooth, smooth, 2, 1, {0.0});  // feedback begins with 0.0

  const auto print = graph.sink("print", [](double value) { std::cout << value << "\n"; });
  graph.connect(smooth, print, 0);

  rml::rt::Trace trace(2);
  graph.record_in(&trace);
  const auto errors = graph.run();
  std::cerr << rml::rt::text(errors);
  trace.write("trace.json");
  return errors.empty() ? 0 : 1;
}
