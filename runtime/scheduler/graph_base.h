// The part of graph.h that does not depend on the type of values: nodes and their states, waking,
// the start and end of a run, and errors.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/scheduler/scheduler.h"
#include "runtime/scheduler/trace.h"

namespace rml::rt {

struct GraphError {
  enum class Kind : std::uint8_t {
    malformed,  // the graph is not valid, so nothing has run
    failed,     // an operation has thrown
    cancelled,  // a stop was requested, the deadline has passed, or the graph was closed
    deadlock,   // all nodes wait for each other
  };
  static constexpr std::size_t whole_graph = static_cast<std::size_t>(-1);

  Kind kind;
  std::size_t node;    // number of the node; whole_graph: the error concerns no single node
  std::string name;    // name of the node
  std::int64_t round;  // round of the node, from 0
  std::string message;
  std::chrono::system_clock::time_point time;
};

// A line for each error: "3:message", or the message alone if it concerns the whole graph.
std::string text(std::span<const GraphError> errors);

class GraphBase;
class GraphNode;

struct GraphEdge {
  virtual ~GraphEdge() = default;

  GraphNode *from, *to;
  std::size_t position, capacity;
  std::atomic<bool> ended{false};      // the producer has put in the last value
  std::atomic<bool> abandoned{false};  // the consumer takes no more values
};

class GraphNode : public Task {
 public:
  enum class State : std::uint8_t { waiting, computing, emitting, done, failed, cancelled };

  GraphNode(GraphBase& graph, std::size_t id, std::string name, std::size_t arity)
      : graph_(graph), id_(id), name_(std::move(name)), in_(arity) {}

  std::size_t id() const { return id_; }
  const std::string& name() const { return name_; }
  State state() const { return state_.load(std::memory_order_relaxed); }
  bool has_ended() const { return state() >= State::done; }
  std::int64_t round() const { return round_.load(std::memory_order_relaxed); }

 protected:
  // Resets the node to its initial state, between runs.
  virtual void reset();
  // The edge for which the node waits. Only while no worker runs the node.
  virtual const GraphEdge* blocked_on() const = 0;
  // Calls around the work of a turn, which record the time spent waiting.
  void resume(unsigned worker) { record(worker, Trace::waiting, waiting_since_); }
  Next pause(Next next) {
    if (trace_ != nullptr) waiting_since_ = Trace::now();
    return next;
  }
  void set_state(State state) { state_.store(state, std::memory_order_relaxed); }
  // Sets the state and returns the time at which it begins, for the trace.
  std::int64_t begin(State state) {
    set_state(state);
    return trace_ == nullptr ? 0 : Trace::now();
  }
  void record(unsigned worker, Trace::State state, std::int64_t begin) const {
    if (trace_ != nullptr) trace_->record(worker, task_, state, begin, Trace::now());
  }
  // Ends the node: its consumers get no more values, and its producers need not produce for it.
  void end(unsigned worker);
  void fail(unsigned worker, const char* message);
  void wake(GraphNode& node);

  GraphBase& graph_;
  const std::size_t id_;
  const std::string name_;
  std::vector<GraphEdge*> in_;  // edges of the operands, by position
  std::vector<GraphEdge*> out_;
  std::atomic<std::int64_t> round_{0};  // number of the current round; written by this node only
  std::atomic<std::size_t> ended_operands_{0};

 private:
  friend class GraphBase;
  std::atomic<State> state_{State::waiting};
  Trace* trace_ = nullptr;
  std::uint32_t task_ = 0;  // number of this node in the trace
  std::int64_t waiting_since_ = 0;
};

class GraphBase {
 public:
  using Id = std::size_t;
  using Clock = std::chrono::steady_clock;

  explicit GraphBase(unsigned workers);
  virtual ~GraphBase();
  GraphBase(const GraphBase&) = delete;
  GraphBase& operator=(const GraphBase&) = delete;

  std::size_t size() const { return nodes_.size(); }
  const std::string& name(Id node) const { return at(node).name(); }
  // The state in which the node was at the end of the last run.
  GraphNode::State state(Id node) const { return at(node).state(); }
  std::int64_t rounds(Id node) const { return at(node).round(); }

  // Runs until every node has ended and returns the errors; empty if there are none. The first
  // error cancels the rest; operations that fail meanwhile add their errors. The graph can run
  // again, from the beginning. Any thread may call it; a second concurrent run is refused.
  std::vector<GraphError> run(std::stop_token stop = {}, Clock::time_point deadline = Clock::time_point::max());
  // Cancels the run, if any, and ends the threads. It may be called repeatedly, but not from an
  // operation.
  void close();
  // True while the run is being cancelled; long operations should check it.
  bool stopping() const { return why_.load(std::memory_order_relaxed) != Reason::none; }

  // Records later runs in this trace, which must outlive them; nullptr turns recording off. Not
  // during a run.
  void record_in(Trace* trace);

 protected:
  friend class GraphNode;
  enum class Reason : std::uint8_t { none, failed, stop_requested, deadline, closed };

  GraphNode& at(Id node) const;
  GraphNode& add(std::unique_ptr<GraphNode> node);
  // Throws Failure if the operand does not exist or is already connected.
  void connect(std::unique_ptr<GraphEdge> edge);
  // Throws Failure during a run, because a running graph must not change.
  void expect_no_run() const;
  void cancel(Reason reason);

 private:
  bool well_formed();
  void prepare();
  void add_to_trace();
  void wait_for_quiet(Clock::time_point deadline);
  void conclude();
  void add_error(GraphError::Kind kind, const GraphNode* node, std::string message);
  std::vector<GraphError> refuse(std::string message) const;
  std::string describe_deadlock(const GraphNode& stuck, std::size_t n_stuck) const;

  const unsigned workers_;
  std::vector<std::unique_ptr<GraphNode>> nodes_;
  std::vector<std::unique_ptr<GraphEdge>> edges_;
  Trace* trace_ = nullptr;
  std::size_t traced_ = 0;  // number of nodes known to the trace

  std::mutex run_mutex_;
  std::atomic<bool> runs_{false}, closed_{false};
  std::atomic<Reason> why_{Reason::none};
  std::mutex mutex_;  // protects the members below
  std::condition_variable became_quiet_;
  bool quiet_ = false;
  std::vector<GraphError> errors_;
  // Last member: its threads end before the members that they use are destroyed.
  std::unique_ptr<Scheduler> scheduler_;
};

inline void GraphNode::wake(GraphNode& node) { graph_.scheduler_->wake(node); }

}  // namespace rml::rt
