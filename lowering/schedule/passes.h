// The passes that make a schedule of a core, in their order. Each takes a value and yields a value; schedule() in
// lowering/schedule/schedule.h is their composition.
//
//   core      undo_delays, give_constants_streams, prune_undemanded, check_order, retime, prune_undemanded
//   schedule  group_units      first units; their clocks and operands are not known yet
//             absorb           what segmented units may as well compute goes to them
//             split_units      what may wait with a segment is apart from what may not
//             sort_units       no unit is empty, and each comes after those that it reads
//             complete_units   clocks, operands, and when they are looked at
//             order_values     of a forward unit, operands first
//             partition        networks only: units in parts, sorted; complete_units follows once more
//             mark_straight    programs only
//             add_zeros, add_cuts     the core has a value for all that the schedule speaks of
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

// What passes over a schedule look up of its core, which they leave as it is: found once for all of them. `ends`: the
// conditions at which segments end (segment_ends), which are needed for that.
struct ScheduleFacts {
  explicit ScheduleFacts(const Core& core, std::span<const ValueId> ends = {})
      : graph(core, ends), components(find_components(graph)) {}
  DependenceGraph graph;
  Components components;
};

// `c fby post y` is y, but for c at the first instant: no lookahead is needed.
Core undo_delays(Core);

// Constant outputs and posts of constants need a stream of their own: `c fby c`; an assert on something that no unit
// computes, an equation of its own: `c and c`.
Core give_constants_streams(Core);

// The last note of an E0701 for which nothing better is known. Where the mend is known, that is the note, and the
// program is refused.
inline constexpr const char* runs_on_demand =
    "`rmlc run` evaluates the program on demand; a network and `--emit lib` need a schedule";

// Values that need each other within an instant under conditions that exclude each other have no single order: false,
// and E0701.
bool check_order(const Core&, Diagnostics&);

// Lookahead becomes delay. In a component that looks ahead a bounded number of instants (semantics/time/offsets.h), a
// value v of offset r is computed r steps late: what was computed at instant n is computed at step n + r from delayed
// operands, on a clock that begins r steps late, and `post` disappears from the component. Outside, v is recovered as
// post … post v', which looks ahead only acyclically and costs a queue. Both programs compute the same streams.
//
//   k = 0 fby (k + d);  d = (post k') when …     ⟹   d computed one step late, fby in between
Core retime(Core);

// The conditions at which the segments of a schedule end.
std::vector<ValueId> segment_ends(const Schedule&);

struct Segmenting {
  Ends ends = Ends::plain;
  Windows windows = Windows::apart;
};

// Where segments of a core may end. Found when it is asked for, and once for all schedules that are tried.
class CutsOfCore {
 public:
  explicit CutsOfCore(std::shared_ptr<const Core>);

  struct Found {
    Cuts cuts;
    std::optional<ScheduleFacts> own;  // where some are computed: their core has more equations
  };
  const Found& found(Ends);
  const ScheduleFacts& facts(const Found& f) const { return f.own ? *f.own : facts_; }
  // Null: of none of these cores.
  const ScheduleFacts* facts_of(const std::shared_ptr<const Core>&) const;

 private:
  std::shared_ptr<const Core> core_;
  ScheduleFacts facts_;
  std::map<Ends, Found> found_;
};

// Nothing, and E0701, where a component has no plan; nothing where no windows can be shared.
std::optional<Schedule> group_units(CutsOfCore&, Segmenting, const Target&, Diagnostics&);

// What only the end of a segment asks for, and is known one instant late, is waited for by the sweeps after the leading
// one alone.
Schedule look_back(Schedule);

// What forward units compute, but may as well wait for the end of a segment, becomes part of the segmented unit. There
// products over all instants can be made of it (lowering/segment/batch_in_time.h).
Schedule absorb(Schedule, const ScheduleFacts&);

// Of a forward unit that reads a segmented one: what is not connected to a row or an assertion before the cut of that
// one becomes a unit of its own, so that it can wait with the segment (lowering/segment/defer.h).
Schedule split_units(Schedule, const ScheduleFacts&);

// Those that lost all their values go.
Schedule drop_empty_units(Schedule);

Schedule sort_units(Schedule, const ScheduleFacts&);

Schedule complete_units(Schedule, const ScheduleFacts&);

// What is on one clock stays together, so that each condition is tested once.
Schedule order_values(Schedule, const ScheduleFacts&);

// Grain op: every equation of a forward unit becomes a unit. Grain stage: neighbours share one until together they take
// long enough to be worth a hand-over. A recurrence is cut where it goes back to the next instant: the fby becomes a
// stream with a first element (Schedule::delayed), handed out by the unit that computes what comes next. It is kept
// whole where the first value is computed, or the memory keeps what it has (a parameter that nothing moves).
Schedule partition(Schedule, const ScheduleFacts&, Grain, const Target&);

Schedule mark_straight(Schedule);

// A constant for every reader of what idles.
Schedule add_zeros(Schedule);

// The end of a segment as a value: what was found to end it, or a negation of its own, that no unit computes.
Schedule add_cuts(Schedule);

}  // namespace rml
