// Finds a cut for a component that depends on its own future, and the sweeps of a segment with
// that cut.
#pragma once

#include <cstdint>
#include <optional>

#include "semantics/core/components.h"
#include "semantics/time/segment.h"

namespace rml {

struct SegmentResult {
  std::optional<SegmentPlan> plan;
  SegmentFailure failure;  // the reason, if there is no plan
};

// Tries the complements of the conditions that guard the posts of the component.
SegmentResult find_cut(const DependenceGraph&, const Components&, std::uint32_t component);

// Plans the sweeps for a given cut.
std::optional<SegmentPlan> plan_under(const DependenceGraph&, const Components&, std::uint32_t component, const Cut&);

}  // namespace rml
