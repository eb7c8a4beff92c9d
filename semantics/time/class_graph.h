// The class graph: the values that a segment computes at its first, interior, last or single
// instants, and their dependences.
//
// A vertex is a value of the component at one class of instants. A dependence on the next or
// previous instant links the classes that may follow each other in a segment. Conditions that are
// known in a class remove edges, and the cut removes the edges that lead out of the segment. If
// every strongly connected component runs one way in time, their topological order is a sequence
// of sweeps, forward and backward.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "semantics/core/components.h"
#include "semantics/time/class_facts.h"
#include "semantics/time/segment.h"

namespace rml {

// One attempt: a component, a cut, and the assumptions about the cut.
class ClassGraph {
 public:
  ClassGraph(const DependenceGraph& graph, const Components& components, std::uint32_t component, Cut cut)
      : graph_(graph),
        clock_(components.list[component].clock),
        members_(components.list[component].values),
        cut_(std::move(cut)),
        facts_(graph, components.list[component].clock, cut_.literal, cut_.only) {
    for (std::size_t i = 0; i < members_.size(); ++i) position_[members_[i]] = static_cast<std::uint32_t>(i);
    build();
  }

  // Posts that read the next instant beyond the end of a segment.
  const std::vector<ValueId>& uncut() const { return uncut_; }
  ClassFacts& facts() { return facts_; }
  std::optional<SegmentPlan> plan(SegmentFailure&);
  // Undecided conditions of branches between values that depend on each other both ways in time.
  std::vector<Literal> undecided();

 private:
  // A member of the component at one class of instants. Its number is four times the member's
  // number plus the index of the class.
  using Vertex = std::uint32_t;
  static Vertex vertex(std::uint32_t member, std::size_t c) { return member * 4 + static_cast<std::uint32_t>(c); }
  static std::uint32_t member_of(Vertex v) { return v / 4; }
  struct Edge {
    Vertex to;
    int weight;
  };
  enum Direction : std::uint8_t { none, forward, backward_only };
  // The values computed by one sweep: by member, the classes of instants; none for members of
  // other sweeps.
  struct SweepClasses {
    std::uint32_t sweep;
    std::vector<std::uint8_t> of;
  };
  void build();
  void add_edge(std::uint32_t from, const Dependence& e, std::size_t c);
  int present_at_end(ValueId v);
  std::vector<Guard> demands(ValueId post) const;
  void find_components();
  bool runs_one_way();
  bool require(std::uint32_t component, Direction);
  bool has_order_within_instants() const;
  bool fill(bool backward, std::uint32_t sweep);
  bool fits(std::uint32_t comp, bool backward, std::uint32_t sweep) const;
  std::vector<std::vector<std::uint32_t>> computed_together() const;
  void move_to_last_sweep();
  void extend_leading();
  bool is_known_in_leading(std::uint32_t member, std::size_t c);
  bool hands_out_unknown();
  bool cut_leads() const;
  bool cut_waits() const;
  std::optional<SegmentPlan> assemble(const std::vector<bool>& backward);
  SweepClasses classes_in(std::uint32_t sweep) const;
  template <class F>
  void for_each_need(Vertex v, std::uint32_t sweep, F&& f) const;
  std::vector<SweepItem> order_items(std::uint32_t sweep) const;
  void order_by_class(const std::vector<std::uint32_t>& group, const SweepClasses& computed,
                      std::vector<SweepItem>& items) const;

  const DependenceGraph& graph_;
  const ClockId clock_;
  const std::vector<ValueId>& members_;
  const Cut cut_;
  ClassFacts facts_;
  std::map<ValueId, std::uint32_t> position_;
  std::vector<bool> alive_;               // one per vertex: false if no needed value depends on it
  std::vector<std::vector<Edge>> edges_;  // dependences of each vertex
  std::vector<std::uint32_t> comp_;       // number of the component that contains each vertex
  std::uint32_t comps_ = 0;
  std::vector<std::vector<std::uint32_t>> comp_vertices_;
  std::vector<Direction> direction_;  // direction of time in which each component of the class graph runs
  std::vector<std::uint32_t> sweep_;  // number of the sweep of each vertex; UINT32_MAX: not assigned yet
  // By member: further classes that the leading sweep computes, in case an assumption fails.
  std::vector<std::uint8_t> beyond_;
  std::vector<ValueId> uncut_;
  std::set<ValueId> awaiting_;
};

}  // namespace rml
