// Networks of operations through which values flow. Each node is a task (scheduler.h), and each
// edge is a bounded ring.
//
//     Graph<int> graph;
//     const auto a = graph.source("a", 40), b = graph.source("b", 2);
//     const auto sum = graph.operation("sum", 2, [](std::span<int> x) { return x[0] + x[1]; });
//     graph.connect(a, sum, 0);
//     graph.connect(b, sum, 1);
//     if (const auto errors = graph.run(); !errors.empty()) std::cerr << text(errors);
//     graph.result(sum);  // 42
//
// A node executes rounds. In each round it takes one value of every operand, by position and not
// by arrival, computes, and puts the result into every edge that leaves it:
//
//     waiting ─────────▶ computing ─────────▶ emitting ──▶ waiting, or
//        all operands                 result               done
//
// It is done when an operand has ended and its edge is empty, or when its results have no reader
// left. A source has no operands. It ends by itself, and then its consumers end. A waiting node
// occupies no thread.
//
// No capacity is too small. Assume that every edge holds at least one value, that every cycle of
// edges has at least one initial value, and that no edge has more initial values than it holds.
// Suppose that all nodes wait. Consider the nodes that have completed the fewest rounds, r. Such
// a node n waits for room or for an operand.
// - It waits for room on an edge with d initial values and capacity c >= d: the edge holds c
//   values and has received r + d, so r + d - c were taken out. This is at least r, because no
//   node has completed fewer rounds; so c = d, and the consumer has taken the operands of r
//   rounds. The consumer has therefore completed r rounds as well, and it waits for an operand.
// - It waits for an operand: the edge is empty, and r values were taken out. The producer has put
//   in r - d. This is at least r, so d = 0, and the producer has completed r rounds as well. The
//   producer does not wait for room, because each edge gets a result as soon as it has room,
//   independently of the others, and this edge is empty. So the producer waits for an operand
//   itself.
//
// From an operand this leads to an operand of its producer, and so on, along edges without
// initial values, which form no cycle. As the graph is finite, this is a contradiction. Paths of
// any lengths may therefore split and join. Only a cycle without an initial value is an error:
// run() reports it as a deadlock, with the nodes that wait for each other.
//
// Values are moved: out of a node with one consumer, through the ring, into the operands, from
// which an operation may move them. If there are several consumers, the last one to receive the
// value gets it, and the others get copies. For large values let T be a shared_ptr to const,
// whose copies share the value. Values that cannot be copied must have one consumer.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/channel/ring.h"
#include "runtime/scheduler/graph_base.h"

namespace rml::rt {

template <typename T>
class Graph : public GraphBase {
  static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements to point at; take char");

 public:
  // Throws on failure. Operations of different nodes run concurrently; those of one node run one
  // round at a time.
  using Operation = std::function<T(std::span<T> operands)>;
  using Sink = std::function<void(T value)>;
  // The value of a round, counted from 0 in every run; none at the end.
  using Generator = std::function<std::optional<T>(std::int64_t round)>;

  static constexpr std::int64_t always = -1;
  static constexpr std::size_t usual_capacity = 16;

  explicit Graph(unsigned workers = std::max(std::thread::hardware_concurrency(), 1u)) : GraphBase(workers) {}
  ~Graph() override { close(); }

  // Emits the same value for this many rounds, or as long as it has a reader.
  Id source(std::string name, T value, std::int64_t rounds = 1)
    requires std::is_copy_constructible_v<T>
  {
    return generator(std::move(name), [value = std::move(value), rounds](std::int64_t round) {
      return rounds == always || round < rounds ? std::optional<T>(value) : std::nullopt;
    });
  }

  Id generator(std::string name, Generator generate) {
    return add(std::move(name), 0, true,
               [generate = std::move(generate)](std::span<T>, std::int64_t round) { return generate(round); });
  }

  // Adds an operation. `arity` is the number of its operands, at least one.
  Id operation(std::string name, std::size_t arity, Operation compute) {
    if (arity == 0) throw Failure(name + ": an operation has operands; without any it is a source");
    return add(std::move(name), arity, true,
               [compute = std::move(compute)](std::span<T> operands, std::int64_t) -> std::optional<T> {
                 return compute(operands);
               });
  }

  Id sink(std::string name, Sink take) {
    return add(std::move(name), 1, false,
               [take = std::move(take)](std::span<T> operands, std::int64_t) -> std::optional<T> {
                 take(std::move(operands[0]));
                 return std::nullopt;
               });
  }

  // Connects a node to an operand of another one. The initial values precede those of the
  // producer; a feedback loop starts with them. The same two nodes may be connected several
  // times, at different positions. Throws Failure.
  void connect(Id from, Id to, std::size_t position, std::size_t capacity = usual_capacity,
               std::vector<T> initial = {}) {
    const Node& producer = node(from);
    const std::string place = producer.name() + " to " + node(to).name();
    if (!producer.emits) throw Failure(place + ": a sink emits nothing");
    if (!std::is_copy_constructible_v<T> && producer.has_consumer())
      throw Failure(place + ": its values cannot be copied, and have one consumer already");
    if (!std::is_copy_constructible_v<T> && !initial.empty())
      throw Failure(place + ": each run begins with copies of the initial values, and they cannot be copied");
    if (capacity == 0) throw Failure(place + ": an edge has a capacity of at least 1");
    if (initial.size() > capacity)
      throw Failure(place + ": " + std::to_string(initial.size()) + " initial values, but it holds " +
                    std::to_string(capacity));
    auto edge = std::make_unique<Edge>(capacity, std::move(initial));
    edge->from = &node(from);
    edge->to = &node(to);
    edge->position = position;
    edge->capacity = capacity;
    GraphBase::connect(std::move(edge));
  }

  // Keeps the last value of the node although it has consumers, at the cost of one copy per
  // round.
  void keep(Id id)
    requires std::is_copy_constructible_v<T>
  {
    expect_no_run();
    node(id).keeps = true;
  }
  // The last value of a node that has no consumer or is kept; none if the last run produced none.
  // Not during a run.
  const std::optional<T>& result(Id id) const { return node(id).last; }

 private:
  struct Edge final : GraphEdge {
    Edge(std::size_t capacity, std::vector<T> initial) : ring(capacity), tokens(std::move(initial)) {}
    Ring<T> ring;
    const std::vector<T> tokens;
  };
  // Computes a value from operands. It returns none at the end; a sink always returns none.
  using Compute = std::function<std::optional<T>(std::span<T> operands, std::int64_t round)>;

  class Node;

  Node& node(Id id) const { return static_cast<Node&>(at(id)); }
  Id add(std::string name, std::size_t arity, bool emits, Compute compute) {
    return GraphBase::add(std::make_unique<Node>(*this, size(), std::move(name), arity, emits, std::move(compute)))
        .id();
  }
};

template <typename T>
class Graph<T>::Node final : public GraphNode {
 public:
  Node(GraphBase& graph, Id id, std::string name, std::size_t arity, bool emits, Compute compute)
      : GraphNode(graph, id, std::move(name), arity), emits(emits), compute_(std::move(compute)) {}

  bool has_consumer() const { return !out_.empty(); }

  const bool emits;
  bool keeps = false;
  std::optional<T> last;

 private:
  // Number of rounds after which a node gives its worker to other tasks.
  static constexpr int rounds_per_turn = 64;
  enum class Operands : std::uint8_t { there, missing, over };

  static Edge& edge(GraphEdge* edge) { return static_cast<Edge&>(*edge); }

  Next run(unsigned worker) override {
    if (has_ended()) return Next::wait;
    resume(worker);
    try {
      for (int k = 0; k < rounds_per_turn; ++k) {
        if (graph_.stopping() || !next_round(worker)) return pause(Next::wait);
      }
    } catch (const std::exception& error) {
      fail(worker, error.what());
      return Next::wait;
    } catch (...) {
      fail(worker, "it threw an exception that is not a std::exception");
      return Next::wait;
    }
    return pause(Next::again);
  }

  // Returns false if the node cannot continue.
  bool next_round(unsigned worker) {
    if (state() == State::waiting) {
      const Operands operands = take();
      if (operands == Operands::missing) return false;
      if (operands == Operands::over || !computed(worker)) {
        end(worker);
        return false;
      }
      pending_.assign(consumers_.begin(), consumers_.end());
      set_state(State::emitting);
    }
    if (!emitted(worker)) return false;
    if (consumers_.empty() && has_consumer()) {
      end(worker);
      return false;
    }
    round_.store(round() + 1, std::memory_order_relaxed);
    set_state(State::waiting);
    return true;
  }

  Operands take() {
    for (; there_ < in_.size(); ++there_) {
      if (edge(in_[there_]).ring.has_element()) continue;
      // The node ends if any operand has ended, even if this one may still come.
      return ended_operands_.load(std::memory_order_acquire) > 0 && one_is_over() ? Operands::over : Operands::missing;
    }
    there_ = 0;
    operands_.clear();
    for (GraphEdge* operand : in_) {
      operands_.push_back(std::move(*edge(operand).ring.try_pop()));
      if (operand->from != this) wake(*operand->from);
    }
    return Operands::there;
  }

  bool one_is_over() const {
    return std::ranges::any_of(in_, [](GraphEdge* operand) {
      // The order matters: values that were put in before the end are visible after `ended`.
      return operand->ended.load(std::memory_order_acquire) && !edge(operand).ring.has_element();
    });
  }

  bool computed(unsigned worker) {
    const std::int64_t since = begin(State::computing);
    std::optional<T> value = compute_(operands_, round());
    record(worker, Trace::computing, since);
    if (!value) return !emits;
    if constexpr (std::is_copy_constructible_v<T>) {
      if (keeps && has_consumer()) last.emplace(*value);
    }
    (has_consumer() ? value_ : last).emplace(std::move(*value));
    return true;
  }

  // Gives the value to each consumer as soon as its edge has room; the head explains why they are
  // independent.
  bool emitted(unsigned worker) {
    const std::int64_t since = begin(State::emitting);
    for (std::size_t k = 0; k < pending_.size();) {
      Edge& out = *pending_[k];
      if (out.abandoned.load(std::memory_order_acquire)) {
        std::erase(consumers_, &out);
      } else if (!out.ring.has_room()) {
        ++k;
        continue;
      } else {
        give(out);
        if (out.to != this) wake(*out.to);
      }
      pending_[k] = pending_.back();
      pending_.pop_back();
    }
    record(worker, Trace::emitting, since);
    return pending_.empty();
  }

  void give(Edge& out) {
    if constexpr (std::is_copy_constructible_v<T>) {
      if (pending_.size() > 1) {
        out.ring.try_push(*value_);
        return;
      }
    }
    out.ring.try_push(std::move(*value_));
  }

  void reset() override {
    GraphNode::reset();
    there_ = 0;
    operands_.clear();
    value_.reset();
    last.reset();
    pending_.clear();
    consumers_.clear();
    for (GraphEdge* out : out_) {
      Edge& to = edge(out);
      consumers_.push_back(&to);
      while (to.ring.try_pop().has_value()) {
      }
      if constexpr (std::is_copy_constructible_v<T>) {
        for (const T& token : to.tokens) to.ring.try_push(token);
      }
    }
  }

  const GraphEdge* blocked_on() const override {
    if (state() == State::emitting) return pending_.empty() ? nullptr : pending_.front();
    for (GraphEdge* operand : in_) {
      if (!edge(operand).ring.has_element()) return operand;
    }
    return nullptr;
  }

  const Compute compute_;
  std::size_t there_ = 0;  // number of operands known to have a value
  std::vector<T> operands_;
  std::optional<T> value_;
  // consumers that still take values; those that need the current value
  std::vector<Edge*> consumers_, pending_;
};

}  // namespace rml::rt
