// Expected against actual chronograms, and how a difference is shown.
#pragma once

#include <string>

#include "semantics/reference/chronogram.h"

namespace rml {

// Floats may differ by tolerance times the larger magnitude (but at least 1e-3, so that what
// cancels to almost zero counts as zero); everything else is equal or not.
bool same_cell(const Cell& expected, const Cell& actual, double tolerance);

// Empty if they agree; else the differing rows, aligned, the first difference marked:
//   expected o | 1 2 3 4
//   actual   o | 1 2 5 4
//                    ^ cycle 2
std::string difference(const Chronogram& expected, const Chronogram& actual, double tolerance);

}  // namespace rml
