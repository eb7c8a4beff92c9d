// Traces of networks: their JSON as read by another program, and full buffers.
#include "runtime/scheduler/trace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runtime/base/failure.h"
#include "runtime/scheduler/graph.h"
#include "tests/unit/temporary_folder.h"

namespace {

using nlohmann::json;
using rml::rt::Graph;
using rml::rt::Trace;
using Ints = std::span<int>;

void run_traced(Trace& trace, int rounds, bool fails = false) {
  Graph<int> graph(2);
  const auto x = graph.source("x", 1, rounds);
  const auto next = graph.operation("next \"one\"\n\xff", 1, [=, round = 0](Ints v) mutable {
    if (fails && ++round == rounds) throw std::runtime_error("error");
    return v[0] + 1;
  });
  graph.connect(x, next, 0, 2);
  graph.connect(next, graph.sink("sink", [](int) {}), 0, 2);
  graph.record_in(&trace);
  EXPECT_EQ(graph.run().empty(), !fails);
}

int count(const json& trace, const std::string& cat, const std::string& phase) {
  int n = 0;
  for (const json& e : trace["traceEvents"]) n += e.value("cat", "") == cat && e["ph"] == phase;
  return n;
}

TEST(trace, every_state_of_every_task) {
  Trace trace(2);
  run_traced(trace, 10);
  EXPECT_EQ(trace.dropped(), 0u);
  const json all = json::parse(trace.to_json());
  EXPECT_EQ(count(all, "computing", "X"), 11 + 10 + 10);  // the source reports once that it has ended
  EXPECT_GE(count(all, "emitting", "X"), 30);
  EXPECT_EQ(count(all, "done", "i"), 3);
  EXPECT_GE(count(all, "waiting", "b"), 3);
  EXPECT_EQ(count(all, "waiting", "b"), count(all, "waiting", "e"));
  int workers = 0;
  for (const json& e : all["traceEvents"]) {
    workers += e["name"] == "thread_name";
    if (e["ph"] == "X") {
      EXPECT_GE(e["dur"].get<double>(), 0.0);
      EXPECT_GE(e["ts"].get<double>(), 0.0);
      EXPECT_TRUE(e["tid"] == 1 || e["tid"] == 2);
      EXPECT_EQ(e["args"]["place"], "node " + std::to_string(e["args"]["task"].get<int>()));
    }
  }
  EXPECT_EQ(workers, 2);
}

TEST(trace, an_error) {
  Trace trace(2);
  run_traced(trace, 5, true);
  EXPECT_EQ(count(json::parse(trace.to_json()), "failed", "i"), 1);
}

TEST(trace, of_some_runs_only) {
  Trace trace(1);
  Graph<int> graph(1);
  std::string within;
  graph.generator("x", [&](std::int64_t round) -> std::optional<int> {
    try {
      graph.record_in(nullptr);
    } catch (const rml::rt::Failure& error) {
      within = error.what();
    }
    return round == 0 ? std::optional(1) : std::nullopt;
  });
  const auto recorded_by_a_run = [&] {
    const auto before = trace.recorded();
    EXPECT_TRUE(graph.run().empty());
    return trace.recorded() - before;
  };
  EXPECT_EQ(recorded_by_a_run(), 0u);
  graph.record_in(&trace);
  EXPECT_GT(recorded_by_a_run(), 0u);
  EXPECT_EQ(within, "the graph cannot be changed while it runs");
  EXPECT_GT(recorded_by_a_run(), 0u);
  graph.record_in(nullptr);
  graph.record_in(nullptr);
  EXPECT_EQ(recorded_by_a_run(), 0u);
}

TEST(trace, a_full_buffer_says_how_much_is_missing) {
  Trace whole(2), small(2, 8);
  run_traced(whole, 100);
  run_traced(small, 100);
  EXPECT_LE(small.recorded(), 16u);
  EXPECT_GT(small.dropped(), 100u);
  EXPECT_EQ(json::parse(small.to_json())["otherData"]["dropped"], small.dropped());
  small.clear();
  EXPECT_EQ(small.recorded() + small.dropped(), 0u);
  Trace none(0);
  run_traced(none, 10);  // the network has workers that this trace does not know
  EXPECT_EQ(none.recorded(), 0u);
}

// Reads the trace with Python: events of a worker do not overlap, and a task's waits begin before
// they end.
TEST(trace, python_reads_it) {
  const rml::test::TemporaryFolder folder;
  Trace trace(2, 1 << 12, "a test");
  run_traced(trace, 200);
  trace.write(folder.path("trace.json"));
  folder.write("check.py", R"(
import json, sys
trace = json.load(open(sys.argv[1], encoding="utf-8"))
assert trace["otherData"]["dropped"] == 0
events = trace["traceEvents"]
names = {(e["name"], e.get("tid")): e["args"]["name"] for e in events if e["ph"] == "M"}
assert names == {("process_name", None): "a test", ("thread_name", 1): "worker 0", ("thread_name", 2): "worker 1"}, names
for worker in (1, 2):
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X" and e["tid"] == worker)
    assert all(a[1] <= b[0] + 1e-3 for a, b in zip(spans, spans[1:]))
open_since = {}
for e in sorted((e for e in events if e["ph"] in "be"), key=lambda e: e["ts"]):
    if e["ph"] == "b":
        open_since.setdefault(e["id"], []).append(e["ts"])
    else:
        assert open_since[e["id"]].pop() <= e["ts"]
assert not any(open_since.values())
assert {e["args"]["task"] for e in events if e["ph"] == "X"} == {0, 1, 2}
)");
  EXPECT_EQ(std::system(("python3 " + folder.path("check.py") + " " + folder.path("trace.json")).c_str()), 0);
}

}  // namespace
