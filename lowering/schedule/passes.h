// The passes that make a schedule of a core, in their order. Each takes a value and yields a value; schedule() in
// lowering/schedule/schedule.h is their composition.
//
//   core      undo_delays, give_constants_streams, prune_undemanded, check_order, retime, prune_undemanded
//   schedule  group_units      first units; their clocks and operands are not known yet
//             absorb           moves equations into segmented units that may as well compute them
//             split_units      separates values that may wait for a segment from those that may not
//             sort_units       no unit is empty, and each comes after the units that it reads
//             complete_units   clocks, operands, and the conditions under which operands are read
//             order_values     in a forward unit, operands come first
//             partition        networks only: splits units and sorts the parts; complete_units follows once more
//             mark_straight    programs only
//             add_zeros, add_cuts     add equations to the core for values that only the schedule needs
#pragma once

#include <map>

#include "lowering/schedule/schedule.h"
#include "lowering/schedule/share_windows.h"
#include "lowering/target.h"
#include "semantics/core/components.h"
#include "semantics/core/dependence.h"
#include "semantics/core/queries.h"
#include "semantics/time/find_cuts.h"

namespace rml {

// Facts about a core that several passes over its schedule use, computed once for all of them. The passes leave the
// core unchanged. `ends`: the conditions at which segments end (segment_ends).
struct ScheduleFacts {
  explicit ScheduleFacts(const Core& core, std::span<const ValueId> ends = {})
      : graph(core, ends), components(find_components(graph)) {}
  DependenceGraph graph;
  Components components;
};

// `c fby post y` equals y except at the first instant, where it is c, so it needs no lookahead.
Core undo_delays(Core);

// Adds equations for outputs and asserts on values that no unit computes. Constant outputs and posts of constants
// become `c fby c`; an assert on a constant or an input gets `c and c`.
Core give_constants_streams(Core);

// The last note of an E0701 that has no better advice. If a fix is known, the note says the fix, and the program is
// refused.
inline constexpr const char* runs_on_demand =
    "`rmlc run` evaluates the program on demand; a network and `--emit lib` need a schedule";

// Returns false and reports E0701 if values need each other within an instant under conditions that exclude each other:
// no single order is right for them.
bool check_order(const Core&, Diagnostics&);

// Turns lookahead into delay. In a component that looks ahead a bounded number of instants (semantics/time/offsets.h),
// a value v of offset r is computed r steps late: its instant n is computed at step n + r from delayed operands, on a
// clock that begins r steps late. So `post` disappears from the component. Outside, v is recovered as post … post v',
// which looks ahead only acyclically and costs a queue. Both programs compute the same streams.
//
//   k = 0 fby (k + d);  d = (post k') when …     ⟹   d computed one step late, fby in between
Core retime(Core);

// The conditions at which the segments of a schedule end.
std::vector<ValueId> segment_ends(const Schedule&);

struct Segmenting {
  Ends ends = Ends::plain;
  Windows windows = Windows::apart;
};

// The cuts of a core: conditions at which segments may end. They are found on first use, and once for all schedules
// that are tried.
class CutsOfCore {
 public:
  explicit CutsOfCore(std::shared_ptr<const Core>);

  struct Found {
    Cuts cuts;
    std::optional<ScheduleFacts> own;  // if the search computed new conditions: the facts of the extended core
  };
  const Found& found(Ends);
  const ScheduleFacts& facts(const Found& f) const { return f.own ? *f.own : facts_; }
  // The facts about a core. Null if they were not computed here.
  const ScheduleFacts* facts_of(const std::shared_ptr<const Core>&) const;

 private:
  std::shared_ptr<const Core> core_;
  ScheduleFacts facts_;
  std::map<Ends, Found> found_;
};

// Returns nothing and reports E0701 if a component has no plan. Returns nothing if `Segmenting` asks for shared windows
// and no components can share one.
std::optional<Schedule> group_units(CutsOfCore&, Segmenting, const Target&, Diagnostics&);

// Marks operands that only the end of a segment needs and that arrive one instant late: only the sweeps after the
// leading one wait for them.
Schedule look_back(Schedule);

// Moves computations of forward units that may as well wait for the end of a segment into the segmented unit. There,
// products over all instants can be made of them (lowering/segment/batch_in_time.h).
Schedule absorb(Schedule, const ScheduleFacts&);

// Splits a forward unit that reads a segmented unit. Values that are not connected to a row or an assertion before the
// cut of the segmented unit become a unit of their own, so that they can wait with the segment
// (lowering/segment/defer.h).
Schedule split_units(Schedule, const ScheduleFacts&);

// Removes units that have no values left.
Schedule drop_empty_units(Schedule);

Schedule sort_units(Schedule, const ScheduleFacts&);

Schedule complete_units(Schedule, const ScheduleFacts&);

// Keeps values on the same clock together, so that each condition is tested once.
Schedule order_values(Schedule, const ScheduleFacts&);

// Splits units into tasks of a network. Grain op: every equation of a forward unit becomes a unit. Grain stage:
// neighbours share a unit until they take long enough together to be worth a hand-over. A recurrence is cut where it
// feeds the next instant: the fby becomes a stream with a first element (Schedule::delayed), and the unit that computes
// the next value hands it out. The recurrence stays whole if its first value is computed, or if the memory never
// changes (a parameter that no optimiser moves).
Schedule partition(Schedule, const ScheduleFacts&, Grain, const Target&);

Schedule mark_straight(Schedule);

// Adds a constant for each value that is never needed, for its readers.
Schedule add_zeros(Schedule);

// Gives each segmented unit a value that is true at the end of a segment: the condition itself, or a negation that is
// added to the core and that no unit computes.
Schedule add_cuts(Schedule);

}  // namespace rml
