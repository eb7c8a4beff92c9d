// Who needs whom, when, and under which conditions (docs/design/1-pipeline.md §5).
//
// Values of a core are vertices. An edge v -> u of weight d says that v at an instant may
// need u d instants later: 0 pointwise, -1 through fby, +1 through post. Instants are those
// of v's clock. Every edge carries the Boolean literals under which it is followed, and
// every value its demand guard: literals that hold whenever anything needs it. Guards make
// dead edges visible, e.g. in
//
//     s = merge bp do ((post s) when not bp);   di = (post s) when (post bp);
//
// s is only ever needed where bp holds, so its second branch is never taken.
#pragma once

#include <span>
#include <vector>

#include "semantics/core/core.h"

namespace rml {

// A Boolean value of the same instant, or its negation.
struct Literal {
  ValueId condition;
  bool positive = true;
  friend bool operator==(const Literal&, const Literal&) = default;
  friend auto operator<=>(const Literal&, const Literal&) = default;
  Literal operator!() const { return {condition, !positive}; }
};

// A conjunction of literals, closed under what they imply; `never` when it is false.
struct Guard {
  bool never = false;
  std::vector<Literal> literals;  // sorted
  bool contains(Literal l) const;
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Dependence {
  ValueId on;
  int weight = 0;
  bool guarded = false;  // followed only where `guard` holds
  Literal guard{};
  bool at_start = false;  // a fby's init: followed only at the first instant
};

class DependenceGraph {
 public:
  // `ends`: values that are needed as results are, at each of their instants.
  explicit DependenceGraph(const Core&, std::span<const ValueId> ends = {});

  const Core& core() const { return core_; }
  const std::vector<Dependence>& of(ValueId v) const { return edges_[v.index]; }
  // Literals that hold wherever v is needed; `never`: nothing needs it.
  const Guard& demand(ValueId v) const { return demand_[v.index]; }
  // The literals of v's clock, outermost first.
  std::vector<Literal> presence(ClockId) const;
  // demand(v) and the guard of the edge.
  Guard guard_of(ValueId v, const Dependence& edge) const;

  // What is known of e.on where v needs it; `never`: the edge is never followed.
  Guard demand_across(ValueId v, const Dependence& e) const;

  // The literal without the negations and samplings around its condition.
  Literal strip(Literal) const;
  // Adds a literal and what follows from it within the instant.
  void add(Guard&, Literal) const;
  // The two cannot hold together: one is true at the first instant only, the other false then.
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
  std::vector<std::vector<ValueId>> delayed_;  // by value x: the `fby const x`
};

// Who depends on whom: the edges of a graph the other way.
class Dependents {
 public:
  explicit Dependents(const DependenceGraph&);
  // By value: whether it is one of these or depends on one, and somebody needs it.
  std::vector<bool> of(std::vector<ValueId>) const;

 private:
  const DependenceGraph& graph_;
  std::vector<std::vector<ValueId>> users_;
};

// Replaces branches and initial values that nothing can ever need by zeros, and removes the
// values nothing reaches. What outputs, asserts and failing operators yield is unchanged.
Core prune_undemanded(Core);

}  // namespace rml
