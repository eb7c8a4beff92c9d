// The automaton of a part of the equations: all states in which a run of the program can be, and what every instant
// asks.
//
// A state is what conditions remember (condition_run.h), the set of each memory, and what the rows so far still ask.
// Rows leave in order: what a row asks it asks together with all before it. States that no instant can follow, for a
// promise that nothing keeps, are taken out. The search has a budget; where it is spent nothing is known.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "semantics/crossing/condition_run.h"
#include "semantics/crossing/equations.h"

namespace rml {

// What is looked at at every instant, as expressions.
struct CrossingRoots {
  Crossings::Node row = Crossings::none;
  std::vector<Crossings::Node> others;  // besides; rows do not wait for them
};

struct CrossingLimits {
  std::size_t states = 4000, edges = 40'000;
  std::int64_t work = 4'000'000;  // expressions and conditions looked at
};

class CrossingAutomaton {
 public:
  struct Edge {
    std::uint32_t from, to;
    PortSet row;    // what the row of the instant asks
    PortSet asked;  // with the rows before it
    std::vector<PortSet> others;
    std::vector<PortSet> through;  // by port: what it asks now; of ports that rows have asked for
    std::vector<std::pair<ValueId, bool>> letters;
  };

  // Nothing if the budget is spent.
  static std::optional<CrossingAutomaton> explore(const Crossings&, const Conditions&, const CrossingRoots&,
                                                  const CrossingLimits& = {});

  std::uint32_t states() const { return states_; }  // 0 is the start
  const std::vector<Edge>& edges() const { return edges_; }
  // The edges of a state.
  const std::vector<std::uint32_t>& from(std::uint32_t state) const { return from_[state]; }
  PortSets& sets() { return sets_; }
  // What a set of the instant before the edge asks at it.
  PortSet later(const Edge&, PortSet);

 private:
  friend class CrossingSearch;
  explicit CrossingAutomaton(std::size_t ports) : sets_(ports) {}
  void remove_dead_ends();

  PortSets sets_;
  std::uint32_t states_ = 0;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::uint32_t>> from_;
};

}  // namespace rml
