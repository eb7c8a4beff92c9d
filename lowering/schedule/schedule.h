// The static schedule: which unit computes what, in which order (docs/design/1-pipeline.md §7).
//
// A schedule is data; validate_schedule checks it against the core without knowing how it was
// found, and build_steps turns it into statements. Values are grouped into units that
// advance together:
//   forward   acyclic values and forward recurrences that wait for the same things
//   segmented one component with a cut, computed in passes (semantics/time/segment.h)
// An acyclic `post` is computed nowhere: who reads it reads its operand's stream without the
// first element. Units come in topological order.
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

// Where a value comes from: `value` without its first `skip` elements.
struct StreamSource {
  ValueId value;
  std::uint32_t skip = 0;
};

struct ScheduledUnit {
  bool segmented = false;
  ClockId clock;                  // its instants
  std::vector<ValueId> values;    // forward: in order of computation
  SegmentPlan plan;               // segmented
  ValueId cut;                    // segmented: true at the last instant of each segment
  std::vector<ValueId> operands;  // read from other units and inputs, conditions before what they sample
  // By operand: conditions, operands themselves, without which the unit does not look at it; it
  // need not wait for it where they fail.
  std::vector<std::vector<Literal>> needed;
  // Segmented: operands of an instant that come with the next one. There the instant before is completed, and the
  // segment closed if that was its last one, before the leading sweep goes on.
  std::vector<ValueId> belated;
  bool is_belated(ValueId v) const { return std::ranges::find(belated, v) != belated.end(); }
  // Segmented: values needed at no instant of any segment, with a constant for whoever reads them.
  std::vector<std::pair<ValueId, ValueId>> idle;
};

struct Schedule {
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  std::shared_ptr<const Core> core;  // pruned and retimed; the ids here are its
  std::vector<ScheduledUnit> units;
  std::vector<std::uint32_t> unit_of;  // by ValueId; nowhere: constants, base inputs, posts read as streams
  std::vector<StreamSource> sources;   // by ValueId: itself, or what an acyclic post reads
  // Networks, by ValueId: a fby whose stream begins with its first value; its unit hands out what comes next. Empty:
  // none.
  std::vector<bool> delayed;
  bool is_delayed(ValueId v) const { return v.index < delayed.size() && delayed[v.index]; }
  // One forward unit (or none) at every cycle that reads only the inputs of that cycle.
  bool straight = false;

  // Base inputs are handed in at every cycle and belong to no unit.
  bool is_base_input(ValueId v) const {
    return std::holds_alternative<core::Input>((*core)[v].rhs) && (*core)[v].clock == base_clock;
  }
};

// Of a network (runtime/scheduler/network.h), what becomes a task: `none`, the program is none; a unit as it is;
// a part of it, or an equation (partition).
enum class Grain : std::uint8_t { none, pass, stage, op };

// The cut of a segmented unit as what is computed: one that is `not c` for the segments' sake is in no unit, it is c,
// and false.
Literal computed_cut(const Schedule&, const ScheduledUnit&);

// Computed by a segmented unit, but not in its leading pass.
bool is_late(const Schedule&, std::uint32_t unit, ValueId);

// Forward units that need, at every instant of a segmented one, what that one computes after its leading pass. Of a
// finished schedule.
std::set<std::uint32_t> waiting_units(const Schedule&, std::uint32_t unit);

std::string print(const Schedule&);

}  // namespace rml
