// A cut for a component that depends on its own future, and the passes of a segment under it.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/components.h"
#include "semantics/segment.h"

namespace rml {

struct SegmentResult {
  std::optional<SegmentPlan> plan;
  SegmentFailure failure;  // when there is no plan
};

// The complement of a condition that guards a post of the component.
SegmentResult find_cut(const DependenceGraph&, const Components&, std::uint32_t component);

// The passes under a cut that holds only where no post of the component that is needed looks at the next instant.
std::optional<SegmentPlan> plan_by_need(const DependenceGraph&, const Components&, std::uint32_t component,
                                        Literal cut);

}  // namespace rml
