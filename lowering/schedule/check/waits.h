// What the streams of a schedule wait for, as equations (semantics/crossing/equations.h).
//
//   a unit at an instant        its instant before, and the values that it reads, at the instants where it reads them
//   leading sweep, forward      when its unit has done the instant
//   later sweeps                where the segment ends: {p}, through(p): at an end of the unit what the unit waits for,
//                               else {p}. If the unit looks back: what it waits for at its next instant
//   a stream without its first  {p}, through(p): the stream at the next instant of its clock
#pragma once

#include <map>

#include "lowering/schedule/schedule.h"
#include "semantics/crossing/look_ahead.h"

namespace rml {

class Waits {
 public:
  static constexpr std::uint8_t group = 1;  // number of the group to which the ports in these equations belong

  Waits(const Schedule&, Conditions&, Crossings&);

  // The equation of a row's column, which waits until the presence of the column is known and, if it is present, its
  // value.
  Crossings::Node of_column(ValueId);
  // True where the cut of a segmented unit holds at the cycle.
  Condition ends(const ScheduledUnit&);
  Condition where_present(Literal);

 private:
  Crossings::Node of_stream(StreamSource);
  Crossings::Node of_value(ValueId);
  Crossings::Node of_unit(std::uint32_t);
  Crossings::Node of_reads(const ScheduledUnit&);
  Crossings::Node of_end(std::uint32_t);
  Crossings::Node of_clock(ClockId);
  Crossings::Node after(ClockId, Crossings::Node);

  const Schedule& s_;
  const Core& core_;
  Conditions& conditions_;
  Crossings& crossings_;
  std::vector<bool> early_;  // one per ValueId: true if the leading sweep or a forward unit hands it out
  std::map<std::uint32_t, Crossings::Node> units_, ends_, clocks_;
  std::map<std::pair<ValueId, std::uint32_t>, Crossings::Node> streams_;
};

}  // namespace rml
