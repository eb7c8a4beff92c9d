// Facts about a segment: where a value is computed and present, what stays the same during a segment, and which values
// are read from outside.
//
// The facts describe the Segment at the time of the call. A pass that changes the segment asks for new facts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "lowering/segment/segment.h"
#include "lowering/steps/streams.h"

namespace rml {

class SegmentFacts {
 public:
  SegmentFacts(const Schedule&, const Streams&, const Segment&);

  // A sweep that computes a value, and the instants at which it does. The leading sweep counts as computing the
  // operands of the unit.
  struct Place {
    std::size_t sweep;
    std::uint8_t classes;
  };

  const Core& core() const { return core_; }
  const ScheduledUnit& unit() const { return unit_; }
  // The cut, without its negation if it is a `not`.
  Literal cut() const { return cut_; }

  // ---- where a value is computed

  // Members and operands of the unit with their places, in the order of their ids.
  const std::map<ValueId, std::vector<Place>>& places() const { return places_; }
  const std::vector<Place>& places(ValueId v) const { return places_.at(v); }
  // True if some instant of some segment needs the value, and it is not a constant.
  bool is_here(ValueId v) const { return places_.contains(v); }
  // True if no other sweep computes the value. The value must be here (is_here).
  bool only_in(ValueId v, std::size_t sweep) const;
  bool computed_in(ValueId v, std::size_t sweep) const;
  // True if the unit computes the value.
  bool is_member(ValueId v) const { return schedule_.unit_of[v.index] == segment_.unit; }
  // The instants at which the value is known after that sweep.
  std::uint8_t known_until(ValueId v, std::size_t sweep) const;
  std::uint8_t known_at_end(ValueId v) const { return known_until(v, SIZE_MAX); }
  // True if sweeps compute the value at most at the last instant of a segment.
  bool computed_last_only(ValueId v) const { return (known_at_end(v) & (first_instant | interior_instant)) == 0; }
  // True for a fby whose next value is known, at each instant, after the leading sweep.
  bool moves_in_leading(ValueId fby) const;
  // Calls f for each operand of the value. The operands of a product over all instants are its matrices.
  void for_each_operand(ValueId v, const std::function<void(ValueId)>& f) const;

  // ---- where a value is present, as far as its clock determines

  // True for `true fby cut`, which holds where segments begin.
  bool marks_first(ValueId) const;
  // True for a condition that holds at most at the first instant of a segment.
  bool holds_first_only(ValueId) const;
  bool present_first_only(ValueId) const;
  // True for a literal that holds at most at the last instant, where the cut does.
  bool holds_last_only(const Literal&) const;
  bool present_last_only(ValueId) const;
  bool absent_first(ValueId) const;
  // True if a segment has one element of the value, at its first or its last instant.
  bool present_once(ValueId v) const { return present_first_only(v) || present_last_only(v); }

  // ---- values that stay the same during a segment

  // The fby whose cell holds v throughout the segment:
  //   v = if true fby end then x else 0 fby v
  // Invalid if there is none.
  ValueId holder(ValueId v) const;
  // True if the value is the same at all instants of a segment, and is kept somewhere throughout the segment.
  bool is_held(ValueId v) const;
  // True for a memory that changes only from segment to segment: its next value is known, and stored, at the end of a
  // segment.
  bool stands_still(ValueId) const;
  // True if sweeps find the value without storage of its own.
  bool costs_nothing(ValueId v) const;
  // Bytes of one element of the value's stream.
  std::int64_t bytes(ValueId v) const;
  // True if the unit keeps the value from its first instant on, rather than from the end of its first segment.
  bool is_parameter(ValueId v) const;

  // ---- readers outside the unit

  bool settled(ValueId v) const { return streams_.settled[v.index]; }
  bool handed_out(ValueId v) const { return streams_.handed_out[v.index]; }
  bool checked(ValueId v) const { return streams_.checked[v.index]; }
  // True if other units, rows or assertions read the value, or values that wait for its clock.
  bool looked_at(ValueId v) const;

  // The conditions under which a post is read, as known in a sweep: for each guard its conditions, outermost first.
  std::vector<std::vector<Literal>> demands(const Awaiting&, std::size_t sweep) const;
  // The conditions between the unit's clock and the value's, outermost first.
  std::vector<Literal> clock(ValueId v) const;

 private:
  const Schedule& schedule_;
  const Core& core_;
  const Streams& streams_;
  const Segment& segment_;
  const ScheduledUnit& unit_;
  Literal cut_;
  std::map<ValueId, std::vector<Place>> places_;
};

}  // namespace rml
