// The static schedule: which unit computes which values, in which order (docs/design/1-pipeline.md §7).
//
// A schedule is data; validate_schedule checks it against the core without knowing how it was found, and build_steps
// turns it into statements. Values are grouped into units that advance together:
//   forward   acyclic values and forward recurrences that wait for the same things
//   segmented one component with a cut, computed in sweeps (semantics/time/segment.h)
// No unit computes an acyclic `post`: its readers read the operand's stream without the first element. Units come in
// topological order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/diagnostic.h"
#include "semantics/time/segment.h"

namespace rml {

// The stream that supplies a value: the stream of `value` without its first `skip` elements.
struct StreamSource {
  ValueId value;
  std::uint32_t skip = 0;
};

struct ScheduledUnit {
  bool segmented = false;
  ClockId clock;                  // the instants at which the unit advances
  std::vector<ValueId> values;    // values that the unit computes; in a forward unit, in the order of computation
  SegmentPlan plan;               // for a segmented unit: its sweeps
  ValueId cut;                    // for a segmented unit: true at the last instant of each segment
  std::vector<ValueId> operands;  // values of other units and inputs that it reads; conditions precede what they sample
  // By operand: the conditions, operands themselves, under which the unit reads it. The unit need not wait for the
  // operand at instants where a condition fails.
  std::vector<std::vector<Literal>> needed;
  // Segmented: operands of an instant that arrive with the next instant. Before the leading sweep takes the next
  // instant, the unit completes the previous one, and closes the segment if that was its last.
  std::vector<ValueId> belated;
  bool is_belated(ValueId v) const { return std::ranges::find(belated, v) != belated.end(); }
  // Segmented: values that no instant of any segment needs, each with a constant for its readers.
  std::vector<std::pair<ValueId, ValueId>> idle;
};

struct Schedule {
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  std::shared_ptr<const Core> core;  // pruned and retimed; all ids of the schedule refer to this core
  std::vector<ScheduledUnit> units;
  // Indexed by ValueId: its unit; `nowhere` for constants, base inputs and posts read as streams.
  std::vector<std::uint32_t> unit_of;
  std::vector<StreamSource> sources;  // by ValueId: the value's own stream, or the stream that an acyclic post reads
  // Networks, by ValueId: true for a fby whose stream begins with its first value and continues with the values that
  // its unit hands out for the next instant. Empty if there is none.
  std::vector<bool> delayed;
  bool is_delayed(ValueId v) const { return v.index < delayed.size() && delayed[v.index]; }
  // True if there is at most one unit, a forward unit that runs at every cycle and reads only the inputs of that cycle.
  bool straight = false;

  // The caller supplies base inputs at every cycle, and they belong to no unit.
  bool is_base_input(ValueId v) const {
    return std::holds_alternative<core::Input>((*core)[v].rhs) && (*core)[v].clock == base_clock;
  }
};

// What becomes a task of a network (runtime/scheduler/network.h). `none`: the program is no network; `sweep`: a whole
// unit; `stage`: a part of a unit; `op`: an equation (partition).
enum class Grain : std::uint8_t { none, sweep, stage, op };

// The cut of a segmented unit in terms of computed values. If the cut is a `not c` that was added only to end segments
// and that no unit computes, the result is c, negated.
Literal computed_cut(const Schedule&, const ScheduledUnit&);

// True if a segmented unit computes the value, but after its leading sweep.
bool is_late(const Schedule&, std::uint32_t unit, ValueId);

// The forward units that need, at every instant of a segmented unit, values that it computes after its leading sweep.
// The schedule must be finished.
std::set<std::uint32_t> waiting_units(const Schedule&, std::uint32_t unit);

std::string print(const Schedule&);

}  // namespace rml
