// Retiming a component that looks ahead a bounded number of instants (docs/design/1-pipeline.md §5).
//
// With offsets r(v) ≥ 0 the value v is computed for instant t - r(v) at step t. An edge
// v -> u of weight d is met when r(v) ≥ r(u) + d: what v needs is then already there. Such
// offsets exist iff no cycle has positive weight; the least ones are longest paths.
#pragma once

#include <vector>

#include "semantics/core/components.h"

namespace rml {

struct Offsets {
  enum Kind : std::uint8_t {
    found,           // `by_member` holds them
    positive_cycle,  // depends on ever later instants: needs a cut
    zero_cycle,      // a value would need itself at the same instant
    sub_clock,       // a post on a sub-clock: its next instant may be arbitrarily late
  } kind = found;
  std::vector<int> by_member;  // in the order of Component::values
  std::vector<ValueId> cycle;  // zero_cycle: values on it
};

// A fby on a sub-clock keeps the value of its previous instant, which may be any number of steps
// back: retiming gives it weight 0 and leaves it a delay.
bool stays_delay(const Core&, const Component&, ValueId user, const Dependence&);

// Least offsets of a component; all zero where it has no post.
Offsets find_offsets(const DependenceGraph&, const Components&, std::uint32_t component);
// The same as if the posts that a condition stops were not there.
Offsets find_offsets_without_guarded_posts(const DependenceGraph&, const Components&, std::uint32_t component);

bool has_post(const Core&, const Component&);

}  // namespace rml
