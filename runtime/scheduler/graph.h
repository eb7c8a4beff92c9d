// Networks of operations through which values flow: each node a task (scheduler.h), each edge a bounded ring.
//
//     Graph<int> graph;
//     const auto a = graph.source("a", 40), b = graph.source("b", 2);
//     const auto sum = graph.operation("sum", 2, [](std::span<int> x) { return x[0] + x[1]; });
//     graph.connect(a, sum, 0);
//     graph.connect(b, sum, 1);
//     if (const auto errors = graph.run(); !errors.empty()) std::cerr << text(errors);
//     graph.result(sum);  // 42
//
// A node goes through rounds. In each it takes one value of every operand, by position and not by arrival, computes,
// and puts the result into every edge that leaves it:
//
//     waiting ─────────▶ computing ─────────▶ emitting ──▶ waiting, done when an operand has ended and is drained,
//        all operands                 result                or when the results have no reader any more
//
// A source has no operands. It ends by itself, and its consumers end after it. A node that waits takes no thread.
//
// Why no capacity is too small. Let every edge hold at least one value, every cycle of edges carry at least one
// initial value, and no edge more of them than it holds. Suppose that all nodes wait. Look at those which have
// completed the fewest rounds, r. Such a node n waits for room or for an operand.
//  - For room on an edge with d initial values and capacity c >= d: there are c in it, r + d were put in, so r + d - c
//    were taken out. That is at least r, as no node has completed fewer rounds, so c = d, and the consumer has taken
//    the operands of r rounds. It has completed r as well, and waits for an operand.
//  - For an operand: the edge is empty, r were taken out. Its producer has put in r - d. That is at least r,
//    so d = 0, and the producer has completed r rounds too. It does not wait for room: each edge gets a result as soon
//    as that edge has room, whatever the others have, and this one is empty. So it waits for an operand itself.
// From an operand we come to an operand of the producer, and so on along edges without initial values, which lead
// around no cycle. The graph is finite: contradiction. Paths that part and meet again, of any lengths, are fine
// therefore; what is not is a cycle without an initial value, which run() reports as a deadlock: who waits on what.
//
// Values are moved: out of a node with one consumer, through the ring, into the operands, which an operation may move
// from. With several consumers the last one to get it gets the value, the others copies; for values that are large let
// T be a shared_ptr to const, whose copies share. Values that cannot be copied have one consumer.
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
  // Throws what went wrong. Operations of different nodes run at the same time; one of them, one round at a time.
  using Operation = std::function<T(std::span<T> operands)>;
  using Sink = std::function<void(T value)>;
  // The value of a round, which counts from 0 in every run; nothing: the end.
  using Generator = std::function<std::optional<T>(std::int64_t round)>;

  static constexpr std::int64_t always = -1;
  static constexpr std::size_t usual_capacity = 16;

  explicit Graph(unsigned workers = std::max(std::thread::hardware_concurrency(), 1u)) : GraphBase(workers) {}
  ~Graph() override { close(); }

  // The same value in so many rounds, or as long as somebody takes it.
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

  // arity: how many operands it takes, at least one.
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

  // An edge to an operand. The initial values come before what the producer makes: what a feedback loop begins with.
  // The same two nodes may be connected several times, at different positions. Throws Failure.
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

  // Its last value is kept although others take it, at the cost of a copy in each round.
  void keep(Id id)
    requires std::is_copy_constructible_v<T>
  {
    expect_no_run();
    node(id).keeps = true;
  }
  // The last value of a node that is never taken from, or that is kept; nothing if there was none in the last run. Not
  // during a run.
  const std::optional<T>& result(Id id) const { return node(id).last; }

 private:
  struct Edge final : GraphEdge {
    Edge(std::size_t capacity, std::vector<T> initial) : ring(capacity), tokens(std::move(initial)) {}
    Ring<T> ring;
    const std::vector<T> tokens;
  };
  // Nothing: the end, but for a sink.
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
  // Then others have their turn.
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
      fail(worker, "it has thrown what is no std::exception");
      return Next::wait;
    }
    return pause(Next::again);
  }

  // False: it cannot go on.
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
      // Any operand that is over is the end, also while this one may still come.
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
      // In this order: what was put in before the end is seen after it.
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

  // Each consumer gets the value as soon as it has room: see above why none waits for another.
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
  std::size_t there_ = 0;  // so many operands are known to be there
  std::vector<T> operands_;
  std::optional<T> value_;
  std::vector<Edge*> consumers_, pending_;  // that take still; that have not got the value yet
};

}  // namespace rml::rt
