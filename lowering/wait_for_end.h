// What of a segment's forward computation waits for its end, where products are one over all its instants.
#pragma once

#include <functional>

#include "lowering/time_batch.h"

namespace rml {

// Makes a second pass of all that the leading one computes, but for what these values are computed from.
void wait_for_segment(const Core&, const std::vector<ValueId>& early, std::vector<PassPlan>& passes);

struct WaitQuestions {
  BatchQuestions batch;
  std::function<bool(ValueId)> lies;     // costs nothing to keep
  std::function<bool(ValueId)> checked;  // by an assertion
};

// The same of products that time_batch then takes out of the loop, and of what is computed from them, where no row
// and no fault comes later for it, and where at most as much again is kept at each instant as is kept anyway.
void wait_for_products(const Schedule&, std::uint32_t unit, std::vector<ValueId> early, std::vector<PassPlan>& passes,
                       const WaitQuestions&);

}  // namespace rml
