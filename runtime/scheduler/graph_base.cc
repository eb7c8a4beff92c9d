// A run wakes every node and sleeps until the scheduler is quiet. This happens only once, because
// no other thread wakes a node later. After that, no worker reads the nodes. If nothing was
// cancelled, the nodes that have not ended wait for each other.
#include "runtime/scheduler/graph_base.h"

#include <algorithm>

#include "runtime/base/failure.h"

namespace rml::rt {

std::string text(std::span<const GraphError> errors) {
  std::string lines;
  for (const GraphError& error : errors) {
    if (error.node != GraphError::whole_graph) lines += std::to_string(error.node) + ":";
    lines += error.message + "\n";
  }
  return lines;
}

// ---- nodes ----

void GraphNode::reset() {
  set_state(State::waiting);
  round_.store(0, std::memory_order_relaxed);
  ended_operands_.store(0, std::memory_order_relaxed);
  for (GraphEdge* out : out_) {
    out->ended.store(false, std::memory_order_relaxed);
    out->abandoned.store(false, std::memory_order_relaxed);
  }
  pause(Next::wait);
}

void GraphNode::end(unsigned worker) {
  set_state(State::done);
  for (GraphEdge* out : out_) {
    out->ended.store(true, std::memory_order_release);
    out->to->ended_operands_.fetch_add(1, std::memory_order_release);
    wake(*out->to);
  }
  for (GraphEdge* operand : in_) {
    operand->abandoned.store(true, std::memory_order_release);
    wake(*operand->from);
  }
  record(worker, Trace::done, Trace::now());
}

void GraphNode::fail(unsigned worker, const char* message) {
  graph_.add_error(GraphError::Kind::failed, this, message);
  set_state(State::failed);
  graph_.cancel(GraphBase::Reason::failed);
  record(worker, Trace::failed, Trace::now());
}

// ---- construction ----

GraphBase::GraphBase(unsigned workers) : workers_(workers) {}
GraphBase::~GraphBase() { close(); }

GraphNode& GraphBase::at(Id node) const {
  if (node >= nodes_.size()) throw Failure("no node has the number " + std::to_string(node));
  return *nodes_[node];
}

void GraphBase::expect_no_run() const {
  if (runs_.load()) throw Failure("the graph cannot be changed while it runs");
}

GraphNode& GraphBase::add(std::unique_ptr<GraphNode> node) {
  expect_no_run();
  return *nodes_.emplace_back(std::move(node));
}

void GraphBase::connect(std::unique_ptr<GraphEdge> edge) {
  expect_no_run();
  GraphNode &from = *edge->from, &to = *edge->to;
  const std::string place = from.name() + " to " + to.name();
  if (edge->position >= to.in_.size())
    throw Failure(place + ": operand " + std::to_string(edge->position) + " does not exist, it takes " +
                  std::to_string(to.in_.size()));
  if (to.in_[edge->position] != nullptr)
    throw Failure(place + ": operand " + std::to_string(edge->position) + " comes from " +
                  to.in_[edge->position]->from->name() + " already");
  GraphEdge& added = *edges_.emplace_back(std::move(edge));
  from.out_.push_back(&added);
  to.in_[added.position] = &added;
}

void GraphBase::record_in(Trace* trace) {
  expect_no_run();
  trace_ = trace;
  traced_ = 0;
}

// ---- execution ----

std::vector<GraphError> GraphBase::run(std::stop_token stop, Clock::time_point deadline) {
  const std::unique_lock alone(run_mutex_, std::try_to_lock);
  if (!alone.owns_lock()) return refuse("the graph runs already");
  struct Runs {
    explicit Runs(std::atomic<bool>& flag) : flag(flag) { flag = true; }
    ~Runs() { flag = false; }
    std::atomic<bool>& flag;
  } const runs(runs_);
  why_ = Reason::none;
  if (closed_) return refuse("the graph is closed");
  if (!well_formed()) return std::move(errors_);
  prepare();
  {
    const std::stop_callback on_stop(stop, [this] { cancel(Reason::stop_requested); });
    scheduler_->enter();
    for (const auto& node : nodes_) scheduler_->wake(*node);
    scheduler_->leave();
    wait_for_quiet(deadline);
  }
  conclude();
  return std::move(errors_);
}

bool GraphBase::well_formed() {
  errors_.clear();
  if (nodes_.empty()) errors_ = refuse("the graph has no nodes");
  for (const auto& node : nodes_) {
    for (std::size_t k = 0; k < node->in_.size(); ++k) {
      if (node->in_[k] != nullptr) continue;
      add_error(GraphError::Kind::malformed, node.get(),
                node->name() + ": operand " + std::to_string(k) + " of " + std::to_string(node->in_.size()) +
                    " has no source");
    }
  }
  return errors_.empty();
}

void GraphBase::prepare() {
  add_to_trace();
  for (const auto& node : nodes_) node->reset();
  quiet_ = false;
  if (scheduler_ != nullptr) return;
  scheduler_ = std::make_unique<Scheduler>(workers_, [this] {
    const std::lock_guard lock(mutex_);
    quiet_ = true;
    became_quiet_.notify_one();
  });
}

void GraphBase::add_to_trace() {
  for (; trace_ != nullptr && traced_ < nodes_.size(); ++traced_) {
    GraphNode& node = *nodes_[traced_];
    node.task_ = trace_->add_task(node.name(), "node " + std::to_string(node.id()));
  }
  for (const auto& node : nodes_) node->trace_ = trace_;
}

void GraphBase::wait_for_quiet(Clock::time_point deadline) {
  const auto quiet = [this] { return quiet_; };
  std::unique_lock lock(mutex_);
  if (deadline != Clock::time_point::max() && !became_quiet_.wait_until(lock, deadline, quiet))
    cancel(Reason::deadline);
  became_quiet_.wait(lock, quiet);
}

void GraphBase::cancel(Reason reason) {
  Reason none = Reason::none;
  why_.compare_exchange_strong(none, reason);
}

void GraphBase::conclude() {
  std::vector<GraphNode*> left;
  for (const auto& node : nodes_) {
    if (!node->has_ended()) left.push_back(node.get());
  }
  if (left.empty()) return;
  const std::string count =
      std::to_string(left.size()) + " of " + std::to_string(nodes_.size()) + " nodes had not ended";
  switch (why_.load()) {
    case Reason::none: {
      // Following the nodes that wait for each other leads from any of them into a cycle.
      const GraphNode* stuck = left.front();
      for (std::size_t k = 0; k < left.size(); ++k) {
        const GraphEdge& edge = *stuck->blocked_on();
        stuck = edge.to == stuck ? edge.from : edge.to;
      }
      add_error(GraphError::Kind::deadlock, stuck, describe_deadlock(*stuck, left.size()));
      break;
    }
    case Reason::failed:
      break;
    case Reason::stop_requested:
      add_error(GraphError::Kind::cancelled, nullptr, "cancelled: a stop was requested: " + count);
      break;
    case Reason::deadline:
      add_error(GraphError::Kind::cancelled, nullptr, "cancelled: the deadline has passed: " + count);
      break;
    case Reason::closed:
      add_error(GraphError::Kind::cancelled, nullptr, "cancelled: the graph was closed: " + count);
      break;
  }
  for (GraphNode* node : left) node->set_state(GraphNode::State::cancelled);
}

// Describes one cycle of waiting nodes.
std::string GraphBase::describe_deadlock(const GraphNode& stuck, std::size_t n_stuck) const {
  constexpr int most = 20;
  std::string all = "deadlock: ";
  const GraphNode* node = &stuck;
  for (int k = 0; k < most; ++k) {
    const GraphEdge& edge = *node->blocked_on();
    const std::string operand = "operand " + std::to_string(edge.position);
    all += node->name();
    if (edge.to == node)
      all += " waits for " + operand + ", from " + edge.from->name();
    else
      all +=
          " waits for room at " + operand + " of " + edge.to->name() + ", which holds " + std::to_string(edge.capacity);
    node = edge.to == node ? edge.from : edge.to;
    if (node == &stuck) break;
    all += k + 1 < most ? "; " : "; …";
  }
  return all + ". " + std::to_string(n_stuck) + " of " + std::to_string(nodes_.size()) +
         " nodes wait. A feedback loop begins with an initial value";
}

// ---- errors ----

void GraphBase::add_error(GraphError::Kind kind, const GraphNode* node, std::string message) {
  GraphError error{kind,
                   node == nullptr ? GraphError::whole_graph : node->id(),
                   node == nullptr ? "" : node->name(),
                   node == nullptr ? 0 : node->round(),
                   std::move(message),
                   std::chrono::system_clock::now()};
  const std::lock_guard lock(mutex_);
  errors_.push_back(std::move(error));
}

// Does not change the errors of a run in progress.
std::vector<GraphError> GraphBase::refuse(std::string message) const {
  return {{GraphError::Kind::malformed, GraphError::whole_graph, "", 0, std::move(message),
           std::chrono::system_clock::now()}};
}

void GraphBase::close() {
  closed_ = true;
  cancel(Reason::closed);
  const std::lock_guard alone(run_mutex_);
  scheduler_.reset();
}

}  // namespace rml::rt
