// What holds where in a segment: where a value is computed and present, what stands still, who looks at it.
//
// The facts are those of a Segment as it is when they are asked for; a pass that changes it asks for new ones.
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

  // A sweep that computes a value, and the instants at which it does. Operands of the unit are there in the leading
  // sweep.
  struct Place {
    std::size_t sweep;
    std::uint8_t classes;
  };

  const Core& core() const { return core_; }
  const ScheduledUnit& unit() const { return unit_; }
  // The cut, without a `not` around it.
  Literal cut() const { return cut_; }

  // ---- where it is computed

  // Members and operands of the unit with their places, in the order of their ids.
  const std::map<ValueId, std::vector<Place>>& places() const { return places_; }
  const std::vector<Place>& places(ValueId v) const { return places_.at(v); }
  // Some instant of some segment needs it, and it is no constant.
  bool is_here(ValueId v) const { return places_.contains(v); }
  // Of what is here.
  bool only_in(ValueId v, std::size_t sweep) const;
  bool computed_in(ValueId v, std::size_t sweep) const;
  // The unit computes it.
  bool is_member(ValueId v) const { return schedule_.unit_of[v.index] == segment_.unit; }
  // The instants at which it is known once a sweep has run.
  std::uint8_t known_until(ValueId v, std::size_t sweep) const;
  std::uint8_t known_at_end(ValueId v) const { return known_until(v, SIZE_MAX); }
  // Sweeps compute it at the last instant of a segment, if at any.
  bool computed_last_only(ValueId v) const { return (known_at_end(v) & (first_instant | interior_instant)) == 0; }
  // A fby whose next value is known, at each instant, when the leading sweep has passed.
  bool moves_in_leading(ValueId fby) const;
  // What the value is computed from: of a product of all instants, its matrices.
  void for_each_operand(ValueId v, const std::function<void(ValueId)>& f) const;

  // ---- where it is present, as far as its clock tells

  // true fby cut: where segments begin.
  bool marks_first(ValueId) const;
  // A condition that holds at the first instant of a segment, if anywhere.
  bool holds_first_only(ValueId) const;
  bool present_first_only(ValueId) const;
  // … at the last instant, where the cut does.
  bool holds_last_only(const Literal&) const;
  bool present_last_only(ValueId) const;
  bool absent_first(ValueId) const;
  // A segment has one element of it, at its first or its last instant.
  bool present_once(ValueId v) const { return present_first_only(v) || present_last_only(v); }

  // ---- what stands still

  // The fby whose cell holds v all the segment through:
  //   v = if true fby end then x else 0 fby v
  // None: invalid.
  ValueId holder(ValueId v) const;
  // The same at all instants of a segment, and kept somewhere all the while.
  bool is_held(ValueId v) const;
  // A memory that goes from segment to segment: what it becomes is known, and stored, when a segment is done.
  bool stands_still(ValueId) const;
  // Sweeps find it without its being kept for them.
  bool costs_nothing(ValueId v) const;
  // Of one element of its stream.
  std::int64_t bytes(ValueId v) const;
  // The unit keeps it from its first instant on, not from the end of its first segment.
  bool is_parameter(ValueId v) const;

  // ---- who looks at it from outside

  bool settled(ValueId v) const { return streams_.settled[v.index]; }
  bool handed_out(ValueId v) const { return streams_.handed_out[v.index]; }
  bool checked(ValueId v) const { return streams_.checked[v.index]; }
  // Other units, rows, assertions, or what waits for its clock.
  bool looked_at(ValueId v) const;

  // Where a post is looked at, by what is known in a sweep: of each guard the conditions, outermost first.
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
