// What values look for beyond an instant, as equations of sets of ports.
//
// A port is a way to look beyond an instant: through(p) is what it asks of the next one, an expression again. A memory
// m holds the set that an expression had at the instant before; what it asks now is the union of through(p) for all p
// in that set. Expressions are unions, choices by a condition, {p}, and memories. Equal ones are one.
//
//   y = if c then x else post y           y: choice(c, none, {p})                through(p): y
//   s = 0 fby (s + y)                     s: memory(m)    m: union(s, y)
//
// An expression may stand for one that is found later, for values that are defined by one another. Ports may be of
// groups, which are never taken for each other.
#pragma once

#include <unordered_map>
#include <vector>

#include "semantics/crossing/conditions.h"
#include "semantics/crossing/port_sets.h"

namespace rml {

class Crossings {
 public:
  using Node = std::uint32_t;
  using Memory = std::uint32_t;
  static constexpr Node none = 0;

  struct Expression {
    enum Kind : std::uint8_t { none, all, choice, port, memory } kind = none;
    Condition condition{};    // of a choice
    std::uint32_t index = 0;  // port or memory
    std::vector<Node> parts;  // all: of the union; choice: where the condition holds, where it does not
  };

  Crossings();

  Node all(std::vector<Node> parts);
  Node choice(Condition, Node on_true, Node on_false);
  PortId port(std::uint8_t group = 0);
  Node beyond(PortId);  // {p}
  void ask(PortId p, Node through) { through_[p] = through; }
  Memory memory();
  Node recall(Memory);
  void remember(Memory m, Node of) { kept_[m] = of; }
  // Stands for an expression that `define` gives.
  Node later();
  void define(Node later, Node expression) { nodes_[later].parts.assign(1, expression); }

  const Expression& operator[](Node n) const { return nodes_[n]; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t ports() const { return through_.size(); }  // first_port and on
  std::size_t memories() const { return kept_.size(); }
  Node through(PortId p) const { return through_[p]; }
  std::uint8_t group(PortId p) const { return groups_[p]; }
  Node kept(Memory m) const { return kept_[m]; }
  // What a place stands for, and what stands for itself.
  Node resolved(Node n) const;

 private:
  Node add(Expression);

  std::vector<Expression> nodes_;
  std::vector<Node> through_, kept_;  // by port, by memory
  std::vector<std::uint8_t> groups_;  // by port
  std::unordered_multimap<std::uint64_t, Node> by_hash_;
};

// Parts of the equations that have nothing to do with each other, each renumbered for itself; what is alike is one. The
// conditions are closed.
struct CrossingPart {
  Crossings crossings;
  std::vector<Crossings::Node> roots;  // none: of another part
  std::vector<PortId> ports;           // by port of the part: the first that it stands for
};
std::vector<CrossingPart> parts_of(const Crossings&, const Conditions&, const std::vector<Crossings::Node>& roots);

}  // namespace rml
