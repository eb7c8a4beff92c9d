// Makes units of the components that are computed in sweeps.
//
// Components whose segments end at the same instants become one unit if that changes nothing but the running time.
// Their sweeps are then one loop each, and no value passes through a queue between them.
//
//   v = x + post_end(e, 0.0, v);  w = v + post_end(e, 0.0, w)        one backward sweep: at each instant v, then w
//
// Only scalars are joined, because their arrays are small. Values that can fail or are asserted are not joined, so the
// first of two faults stays the same. The joined unit waits for the operands of its first component. A component that
// needs more operands, or fewer, stays separate, so that every row is still written at the same cycle.
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

  // Gives the component's values to a unit of the schedule and returns its number. `late`: the operands from other
  // units that may come later than the inputs of their instant.
  std::uint32_t place(const Component&, SegmentPlan, std::set<ValueId> late);
  // True if no sweep after the leading one computes the value. The value must have been placed.
  bool is_early(ValueId v) const { return last_sweep_[v.index] == 0; }

 private:
  using Sweeps = std::vector<std::size_t>;

  bool joinable(const Component&, const SegmentPlan&) const;
  bool waits_alike(const std::set<ValueId>& late, std::uint32_t unit) const;
  std::optional<std::uint32_t> host_of(const Component&, const SegmentPlan&, const std::set<ValueId>& late) const;
  std::optional<Sweeps> sweeps_in(std::uint32_t unit, const SegmentPlan&) const;
  bool fits(const SweepPlan&, std::uint32_t unit, std::size_t number) const;
  void take_in(std::uint32_t unit, const Component&, const SegmentPlan&, const Sweeps&);

  const Core& core_;
  const DependenceGraph& graph_;
  Schedule& out_;
  std::vector<bool> asserted_;  // one per ValueId: true if an assert reads it
  // Indexed by ValueId: the last sweep that computes it; `nowhere`: no sweep does.
  std::vector<std::uint32_t> last_sweep_;
  // By unit that may take in further components: the operands that it waits for.
  std::map<std::uint32_t, std::set<ValueId>> hosts_;
  // By cut and the operands that a unit waits for: the latest such unit.
  std::map<std::pair<Literal, std::set<ValueId>>, std::uint32_t> latest_;
};

}  // namespace rml
