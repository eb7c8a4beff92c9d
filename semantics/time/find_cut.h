// A cut for a component that depends on its own future, and the passes of a segment under it.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/core/components.h"
#include "semantics/time/segment.h"

namespace rml {

struct SegmentResult {
  std::optional<SegmentPlan> plan;
  SegmentFailure failure;  // when there is no plan
};

// The complement of a condition that guards a post of the component.
SegmentResult find_cut(const DependenceGraph&, const Components&, std::uint32_t component);

// The passes under this cut.
std::optional<SegmentPlan> plan_under(const DependenceGraph&, const Components&, std::uint32_t component, const Cut&);

}  // namespace rml
