// Segments: the plan for a component that depends on its own future (docs/design/1-pipeline.md
// §6).
//
// A cut divides time, on the component's clock: where this condition holds, every dependence on
// the next instant stops, and a segment ends. Within a segment an instant is first, interior,
// last, or single (both first and last). Each pair (value, class of instant) is a vertex of the
// class graph. Conditions that are known in a class remove edges from it. If every strongly
// connected component of that graph runs one way in time, its topological order is a sequence of
// sweeps over the segment, forward and backward.
//
//   backfill: o = merge bp (i when bp) ((post o) when not bp), cut bp:
//     sweep 0  forward   i when bp                       (as inputs arrive)
//     sweep 1  backward  o
#pragma once

#include <cstdint>
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/time/class_facts.h"

namespace rml {

struct SweepItem {
  ValueId value;
  std::uint8_t classes = any_instant;  // the classes of instants at which this sweep computes the value
};

// True if computing these classes requires knowing whether an instant is the last of its segment.
inline bool tells_last(std::uint8_t classes) {
  const auto differ = [&](std::uint8_t a, std::uint8_t b) { return ((classes & a) != 0) != ((classes & b) != 0); };
  return differ(first_instant, single_instant) || differ(interior_instant, last_instant);
}

struct SweepPlan {
  bool backward = false;
  std::vector<SweepItem> items;  // values in the order of computation within an instant
};

// A post whose clock may be absent at the end of a segment. Where one of the guards holds, the
// clock must be present again before the segment ends.
struct Awaiting {
  ValueId post;
  std::vector<Guard> demands;
};

// The condition that divides time into segments, with its assumptions.
struct Cut {
  Literal literal;
  std::vector<Literal> only;  // assumptions that must hold only where `literal` holds
  bool by_need = false;       // where `literal` holds, no needed post reads the next instant
};

struct SegmentPlan {
  Literal cut;                       // a value on the component's clock or sampled from it
  bool by_need = false;              // posts that are not needed may look beyond the cut
  std::vector<Literal> only_at_cut;  // assumptions that must hold only where the cut holds
  std::vector<Awaiting> awaiting;
  std::vector<SweepPlan> sweeps;  // all sweeps; [0] is the leading forward sweep
};

struct SegmentFailure {
  enum Kind : std::uint8_t {
    no_cut,     // nothing stops this dependence on the next instant
    cut_waits,  // a cut exists but is known only later
    both_ways,  // cuts exist, but some values depend both ways within a segment
  } kind = no_cut;
  ValueId post;  // the post, if the kind is no_cut
  Literal cut;   // the cut, if the kind is cut_waits or both_ways
};

}  // namespace rml
