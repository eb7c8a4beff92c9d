// The automaton of one part of the equations: all states that a run of the program can reach, and
// the crossings at every instant.
//
// A state consists of the state of the conditions (condition_run.h), the set of each memory, and
// the ports that earlier rows still need. Rows leave in order, so a row needs its own ports and
// those of all earlier rows. States without a consistent next instant are removed. The search has
// a budget; if it is exceeded, there is no result.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "semantics/crossing/condition_run.h"
#include "semantics/crossing/equations.h"

namespace rml {

// The expressions that are evaluated at every instant.
struct CrossingRoots {
  Crossings::Node row = Crossings::none;
  std::vector<Crossings::Node> others;  // further expressions; rows do not wait for them
};

struct CrossingLimits {
  std::size_t states = 4000, edges = 40'000;
  std::int64_t work = 4'000'000;   // visits of expressions and conditions
  std::size_t words = 32'000'000;  // stored words of sets
};

class CrossingAutomaton {
 public:
  struct Edge {
    std::uint32_t from, to;
    PortSet row;    // crossing of this instant's row
    PortSet asked;  // the crossing of this row and all earlier ones
    std::vector<PortSet> others;
    mutable PortMap through;  // one per port that rows need: its crossing at this instant
    std::vector<std::pair<ValueId, bool>> letters;
  };

  // Nothing if the budget is exceeded.
  static std::optional<CrossingAutomaton> explore(const Crossings&, const Conditions&, const CrossingRoots&,
                                                  const CrossingLimits& = {});

  std::uint32_t states() const { return states_; }  // number of states; state 0 is the start
  const std::vector<Edge>& edges() const { return edges_; }
  // The edges of a state.
  const std::vector<std::uint32_t>& from(std::uint32_t state) const { return from_[state]; }
  PortSets& sets() { return sets_; }
  // The crossing, at the edge's instant, of a set of the instant before.
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
