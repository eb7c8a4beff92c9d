// Segments: how a component that depends on its own future is computed
// (docs/design/1-pipeline.md §6).
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
#include <vector>

#include "semantics/core/dependence.h"
#include "semantics/time/class_facts.h"

namespace rml {

struct PassItem {
  ValueId value;
  std::uint8_t classes = any_instant;  // the instants at which this pass computes it
};

// Whether it must be known of an instant if it is the last one of its segment.
inline bool tells_last(std::uint8_t classes) {
  const auto differ = [&](std::uint8_t a, std::uint8_t b) { return ((classes & a) != 0) != ((classes & b) != 0); };
  return differ(first_instant, single_instant) || differ(interior_instant, last_instant);
}

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

// What divides time into segments.
struct Cut {
  Literal literal;
  std::vector<Literal> only;  // as in SegmentPlan
  bool by_need = false;       // where it holds, no post that is needed looks at the next instant
};

struct SegmentPlan {
  Literal cut;                       // a value on the component's clock or below it
  bool by_need = false;              // posts that nothing needs may look beyond it
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

}  // namespace rml
