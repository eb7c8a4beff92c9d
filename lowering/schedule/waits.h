// What the streams of a schedule wait for, as equations (semantics/crossing/equations.h).
//
//   a unit at an instant        what it has not done before, and what it reads there, where it looks at it
//   leading sweep, forward      when its unit has done the instant
//   later sweeps                where the segment ends: {p}, through(p): at an end of the unit what the unit waits for,
//                               else {p}. Of a unit that looks back: what it waits for at its next instant
//   a stream without its first  {p}, through(p): the stream at the next instant of its clock
#pragma once

#include <map>

#include "lowering/schedule/schedule.h"
#include "semantics/crossing/look_ahead.h"

namespace rml {

class Waits {
 public:
  static constexpr std::uint8_t group = 1;  // of the ports

  Waits(const Schedule&, Conditions&, Crossings&);

  // Of a row's column: whether it is there, and if so what it is.
  Crossings::Node of_column(ValueId);
  // The cut of a segmented unit holds at the cycle.
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
  std::vector<bool> early_;  // by value: handed out by the leading sweep or a forward unit
  std::map<std::uint32_t, Crossings::Node> units_, ends_, clocks_;
  std::map<std::pair<ValueId, std::uint32_t>, Crossings::Node> streams_;
};

}  // namespace rml
