// Retiming of a component with bounded look-ahead (docs/design/1-pipeline.md §5).
//
// With offsets r(v) ≥ 0, step t computes the value v of instant t - r(v). An edge v -> u of
// weight d is satisfied if r(v) ≥ r(u) + d: then the operand has been computed. Such offsets
// exist iff no cycle has positive weight; the smallest offsets are longest paths.
#pragma once

#include <vector>

#include "semantics/core/components.h"

namespace rml {

struct Offsets {
  enum Kind : std::uint8_t {
    found,           // `by_member` has the offsets
    positive_cycle,  // the component depends on ever later instants: it needs a cut
    zero_cycle,      // a value would need itself at the same instant
    sub_clock,       // a post on a sub-clock: its next instant may be arbitrarily late
  } kind = found;
  std::vector<int> by_member;  // offset of each member, in the order of Component::values
  std::vector<ValueId> cycle;  // for zero_cycle: the values on it
};

// A fby on a sub-clock keeps the value of its previous instant, which may be any number of steps
// back. In retiming it has weight 0 and remains a delay.
bool stays_delay(const Core&, const Component&, ValueId user, const Dependence&);

// The smallest offsets of a component; all are zero if it has no post.
Offsets find_offsets(const DependenceGraph&, const Components&, std::uint32_t component);
// As find_offsets, without the posts that are needed only under a condition.
Offsets find_offsets_without_guarded_posts(const DependenceGraph&, const Components&, std::uint32_t component);

bool has_post(const Core&, const Component&);

}  // namespace rml
