// Units of the components that are computed in sweeps.
//
// Components whose segments end at the same instants are one unit where that changes nothing but the time it takes:
// their sweeps are then one loop each, and nothing is handed from one to the other.
//
//   v = x + post_end(e, 0.0, v);  w = v + post_end(e, 0.0, w)        one backward sweep: of an instant v, then w
//
// Only scalars are joined, whose arrays are small, and only what neither fails nor is asserted: of two faults the same
// comes first. The unit waits for what its first component waits for; one that would make it wait for more, or that
// waits for less, stays apart, so that every row is there when it was.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "lowering/schedule/schedule.h"
#include "semantics/core/components.h"

namespace rml {

class SegmentUnits {
 public:
  SegmentUnits(const DependenceGraph&, Schedule&);

  // Gives the component's values to a unit of the schedule and returns its number. `late`: what the component needs
  // from others, and that may come later than the inputs of its instant.
  std::uint32_t place(const Component&, SegmentPlan, std::set<ValueId> late);
  // The leading sweep is done with the value. Of what was placed.
  bool is_early(ValueId v) const { return last_sweep_[v.index] == 0; }

 private:
  using Sweeps = std::vector<std::size_t>;

  bool joinable(const Component&, const SegmentPlan&) const;
  bool waits_alike(const std::set<ValueId>& late, std::uint32_t unit) const;
  std::optional<std::uint32_t> host_of(const Component&, const SegmentPlan&, const std::set<ValueId>& late) const;
  std::optional<Sweeps> sweeps_in(std::uint32_t unit, const SegmentPlan&) const;
  bool fits(const PassPlan&, std::uint32_t unit, std::size_t sweep) const;
  void take_in(std::uint32_t unit, const Component&, const SegmentPlan&, const Sweeps&);

  const Core& core_;
  const DependenceGraph& graph_;
  Schedule& out_;
  std::vector<bool> asserted_;                        // by ValueId
  std::vector<std::uint32_t> last_sweep_;             // by ValueId: the last that computes it; nowhere: none does
  std::map<std::uint32_t, std::set<ValueId>> hosts_;  // by unit that may take in more: what it waits for
  std::map<std::pair<Literal, std::set<ValueId>>, std::uint32_t> latest_;  // by cut and what it waits for: a unit
};

}  // namespace rml
