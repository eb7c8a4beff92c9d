// Equations for the crossings of values: the sets of ports through which they depend on later
// instants.
//
// A port is one dependence on a later instant; through(p) is the crossing of its operand at the
// next instant, again an expression. A memory m holds the crossing of an expression one instant
// earlier; its crossing now is the union of through(p) for all p in that set. Expressions are
// unions, choices by a condition, {p}, and memories. Equal expressions are shared.
//
//   y = if c then x else post y           y: choice(c, none, {p})                through(p): y
//   s = 0 fby (s + y)                     s: memory(m)    m: union(s, y)
//
// For recursive values, an expression may be a place that is defined later. Ports may have
// groups; ports of different groups are never merged.
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
    Condition condition{};    // for a choice: the condition that selects a part
    std::uint32_t index = 0;  // number of the port or memory
    std::vector<Node> parts;  // parts of a union; for a choice: the part if true, then the part if false
  };

  Crossings();

  Node all(std::vector<Node> parts);
  Node choice(Condition, Node on_true, Node on_false);
  PortId port(std::uint8_t group = 0);
  Node beyond(PortId);  // the set {p}
  void ask(PortId p, Node through) { through_[p] = through; }
  Memory memory();
  Node recall(Memory);
  void remember(Memory m, Node of) { kept_[m] = of; }
  // A place for an expression that `define` sets later.
  Node later();
  void define(Node later, Node expression) { nodes_[later].parts.assign(1, expression); }

  const Expression& operator[](Node n) const { return nodes_[n]; }
  std::size_t size() const { return nodes_.size(); }
  std::size_t ports() const { return through_.size(); }  // number of ports; they are numbered from first_port
  std::size_t memories() const { return kept_.size(); }
  Node through(PortId p) const { return through_[p]; }
  std::uint8_t group(PortId p) const { return groups_[p]; }
  Node kept(Memory m) const { return kept_[m]; }
  // The expression at a place; other expressions are returned unchanged.
  Node resolved(Node n) const;

 private:
  Node add(Expression);

  std::vector<Expression> nodes_;
  std::vector<Node> through_, kept_;  // definitions of the ports; next values of the memories
  std::vector<std::uint8_t> groups_;  // indexed by port: number of its group
  std::unordered_multimap<std::uint64_t, Node> by_hash_;
};

// Splits the equations into independent parts, each renumbered, with equal expressions and ports
// merged. The conditions must be closed.
struct CrossingPart {
  Crossings crossings;
  std::vector<Crossings::Node> roots;  // expressions of the roots; none: the root belongs to another part
  std::vector<PortId> ports;           // indexed by port of the part: its first original port
};
std::vector<CrossingPart> parts_of(const Crossings&, const Conditions&, const std::vector<Crossings::Node>& roots);

}  // namespace rml
