// Compares expected with actual chronograms, and shows a difference.
#pragma once

#include <string>

#include "semantics/reference/chronogram.h"

namespace rml {

// Floats may differ by `tolerance` times the larger magnitude. The magnitude counts as at least 1e-3, so that sums that
// cancel to almost zero count as zero. Everything else must be equal.
bool same_cell(const Cell& expected, const Cell& actual, double tolerance);

// Empty if they agree. Otherwise the differing rows, aligned, with the first difference marked:
//   expected o | 1 2 3 4
//   actual   o | 1 2 5 4
//                    ^ cycle 2
std::string difference(const Chronogram& expected, const Chronogram& actual, double tolerance);

}  // namespace rml
