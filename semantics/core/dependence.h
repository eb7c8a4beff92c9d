// Dependences between values: at which distance in time, and under which conditions
// (docs/design/1-pipeline.md §5).
//
// The vertices are the values of a core. An edge v -> u of weight d says that v at an instant may
// need u d instants later: 0 for pointwise operators, -1 through fby, +1 through post. Instants
// are counted on v's clock. Each edge carries the Boolean literals under which it is followed.
// Each value has a demand guard: the literals that hold wherever a use needs the value. Guards
// reveal dead edges, as in
//
//   s = merge bp do ((post s) when not bp);   di = (post s) when (post bp);
//
// Here s is needed only where bp holds, so its second branch is never taken.
#pragma once

#include <span>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// A Boolean value at the same instant, or its negation.
struct Literal {
  ValueId condition;
  bool positive = true;
  friend bool operator==(const Literal&, const Literal&) = default;
  friend auto operator<=>(const Literal&, const Literal&) = default;
  Literal operator!() const { return {condition, !positive}; }
};

// A conjunction of literals that contains the literals that it implies, up to a limit. `never`: it is false.
struct Guard {
  bool never = false;
  std::vector<Literal> literals;  // literals of the conjunction, sorted
  bool contains(Literal l) const;
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Dependence {
  ValueId on;
  int weight = 0;
  bool guarded = false;  // true if the edge is followed only where `guard` holds
  Literal guard{};
  bool at_start = false;  // the edge leads to the `init` of a fby, which is needed only at the first instant
};

class DependenceGraph {
 public:
  // Builds the graph of a core. `ends` are further values that are needed at each of their
  // instants, like results.
  explicit DependenceGraph(const Core&, std::span<const ValueId> ends = {});

  const Core& core() const { return core_; }
  const std::vector<Dependence>& of(ValueId v) const { return edges_[v.index]; }
  // Literals that hold wherever v is needed. `never`: nothing needs v.
  const Guard& demand(ValueId v) const { return demand_[v.index]; }
  // The literals of the clock, outermost first.
  std::vector<Literal> presence(ClockId) const;
  // The conjunction of demand(v) and the guard of the edge.
  Guard guard_of(ValueId v, const Dependence& edge) const;

  // The literals known at the instant of e.on where v needs it. `never`: the edge is never
  // followed.
  Guard demand_across(ValueId v, const Dependence& e) const;

  // The literal without the negations and samplings around its condition.
  Literal strip(Literal) const;
  // Adds a literal and its consequences within the same instant.
  void add(Guard&, Literal) const;
  // True if the two literals exclude each other because one is true only at the first instant and
  // the other is false there.
  bool never_at_start(Literal, Literal) const;

 private:
  void build_edges();
  void find_demand(std::span<const ValueId> ends);
  void demand_edge(ValueId v, const Dependence& edge, std::vector<ValueId>& changed);
  void meet(ValueId v, Guard guard, std::vector<ValueId>& changed);
  void add_presence(Guard&, ValueId) const;
  Guard translate(const Guard&, ClockId clock, int weight) const;

  const Core& core_;
  std::vector<std::vector<Dependence>> edges_;
  std::vector<Guard> demand_;
  std::vector<std::vector<ValueId>> delayed_;  // indexed by a value x: the values `fby const x`
};

// The reverse edges of a dependence graph, from operands to users.
class Dependents {
 public:
  explicit Dependents(const DependenceGraph&);
  // By value: true if it is needed and is one of the given values or depends on one of them.
  std::vector<bool> of(std::vector<ValueId>) const;

 private:
  const DependenceGraph& graph_;
  std::vector<std::vector<ValueId>> users_;
};

// Dead code elimination by conditions: replaces branches and initial values that nothing can need
// by zeros, and removes unreachable values. Outputs, asserts and failing operators keep their
// behaviour.
Core prune_undemanded(Core);

}  // namespace rml
