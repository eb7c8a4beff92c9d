// Common parts of the tests of networks of operations.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "runtime/scheduler/graph.h"

namespace rml::test {

using rml::rt::Failure;
using rml::rt::Graph;
using rml::rt::GraphError;
using State = rml::rt::GraphNode::State;
using Kind = GraphError::Kind;
using Operands = std::span<std::int64_t>;
using Numbers = Graph<std::int64_t>;

inline std::int64_t sum(Operands x) { return std::accumulate(x.begin(), x.end(), std::int64_t{0}); }

// Returns the message of the exception, or an empty text.
template <typename Action>
std::string failure(const Action& action) {
  try {
    action();
  } catch (const Failure& error) {
    return error.what();
  }
  return "";
}

inline Numbers::Generator count_to(std::int64_t n) {
  return [n](std::int64_t round) { return round < n ? std::optional(round) : std::nullopt; };
}

inline void expect_well(Numbers& graph, std::stop_token stop = {}) {
  const std::vector<GraphError> errors = graph.run(std::move(stop));
  EXPECT_EQ(rml::rt::text(errors), "");
}

}  // namespace rml::test
