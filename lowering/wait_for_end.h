// What of a segment's forward computation waits for its end, where products are one over all its instants.
#pragma once

#include <functional>

#include "lowering/time_batch.h"

namespace rml {

// Makes a second pass of all that the leading one computes, but for what these values are computed from.
void wait_for_segment(const Core&, const std::vector<ValueId>& early, std::vector<PassPlan>& passes);

// The same of products that time_batch then takes out of the loop, and of what is computed from them, where
// at most as much again is kept for it at each instant as is kept anyway. `lies`: what costs nothing to keep.
void wait_for_products(const Core&, ClockId clock, Literal cut, const std::vector<ValueId>& early,
                       std::vector<PassPlan>& passes, const BatchQuestions&, const std::function<bool(ValueId)>& lies);

}  // namespace rml
