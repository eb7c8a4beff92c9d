// Segments: how a component that depends on its own future is computed
// (scheduling.md section 3.3).
//
// Time, on the component's clock, is divided by a cut: a condition that, where it holds,
// stops every dependence on the next instant. A segment ends where the cut holds. Inside a
// segment an instant is first, interior or last (or single, when it is both); each pair
// (value, class of instant) is a vertex of the class graph, in which the conditions that
// are known in a class have removed edges. If every strongly connected component of that
// graph runs one way in time, its topological order is a sequence of passes over the
// segment, forward and backward.
//
//   backfill: o = merge bp (i when bp) ((post o) when not bp), cut bp:
//     pass 0  forward   i when bp                       (as inputs arrive)
//     pass 1  backward  o
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "semantics/components.h"
#include "semantics/dependence.h"
#include "semantics/truth.h"

namespace rml {

// Classes of instants in a segment, as a bit set.
enum : std::uint8_t { first_instant = 1, interior_instant = 2, last_instant = 4, single_instant = 8, any_instant = 15 };

struct PassItem {
  ValueId value;
  std::uint8_t classes = any_instant;  // the instants at which this pass computes it
};

struct PassPlan {
  bool backward = false;
  std::vector<PassItem> items;  // in the order of computation within an instant
};

// A post whose clock may be absent at the end of a segment. Where one of the guards holds, the clock
// must be present again before the segment is over.
struct Awaiting {
  ValueId post;
  std::vector<Guard> demands;
};

struct SegmentPlan {
  Literal cut;                       // a value on the component's clock or below it
  std::vector<Literal> sides;        // must hold wherever the cut does
  std::vector<Literal> only_at_cut;  // must hold nowhere but where the cut does
  std::vector<Awaiting> awaiting;
  std::vector<PassPlan> passes;  // [0] is the leading forward pass
};

struct SegmentFailure {
  enum Kind : std::uint8_t {
    no_cut,     // nothing stops this dependence on the next instant
    cut_waits,  // a cut exists but is itself only known later
    both_ways,  // cuts exist, but some values depend both ways within a segment
  } kind = no_cut;
  ValueId post;  // the post concerned (no_cut), or
  Literal cut;   // the cut concerned
};

struct SegmentResult {
  std::optional<SegmentPlan> plan;
  SegmentFailure failure;  // when there is no plan
};

SegmentResult plan_segments(const DependenceGraph&, const Components&, std::uint32_t component);

// Truth of a Boolean value in a class of instants, given a cut: yes, no, or varies. What
// depends on itself is first taken for true and false alike, then for whatever else it is
// found to be: the answer does not depend on the order of the questions.
class ClassFacts {
 public:
  ClassFacts(const DependenceGraph& graph, ClockId clock, Literal cut, std::vector<Literal> sides,
             std::vector<Literal> only_at_cut);
  Truth truth(ValueId condition, std::uint8_t instant_class) const;
  // What is assumed and what it implies exclude each other.
  bool contradictory() const { return ends_.never || others_.never; }
  // False if some literal is known to be false there.
  bool possible(const Guard&, std::uint8_t instant_class) const;

 private:
  struct Known {
    Truth truth;
    std::vector<std::uint64_t> users;  // keys of what has been found from it
  };
  Truth at(ValueId condition, std::uint8_t instant_class) const;
  void suppose(Guard&, Literal, const std::vector<Literal>& given) const;
  void settle() const;
  void set(std::uint64_t key, Truth truth) const;
  Truth joined(ValueId condition, std::uint8_t a, std::uint8_t b) const;
  Truth find_truth(ValueId condition, std::uint8_t instant_class) const;

  const DependenceGraph& graph_;
  ClockId clock_;
  Guard ends_;    // holds at last and single instants, with what follows
  Guard others_;  // holds at first and interior ones
  // The same where the cut, which may be on a slower clock, is present; and what says that it is.
  Guard others_with_cut_, cut_present_;
  mutable std::unordered_map<std::uint64_t, Known> known_;  // by value and class
  mutable std::vector<std::uint64_t> work_;                 // to be found, or found again
  mutable std::vector<std::uint64_t> asked_;                // since the last question
  mutable std::uint64_t asking_ = 0;
};

}  // namespace rml
