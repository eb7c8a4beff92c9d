// Components whose segments end at the same instants, and all that is computed between them, as one component.
//
// Each component that looks ahead is a unit of its own, and what comes after it waits for the end of its segment,
// though some of it may be known at once:
//
//   dw = x + post_end(e, 0.0, dw);  first = true fby e
//   p = 0.5 fby (if first then p - dw else p);  w = if first then p else (0.0 fby w);  y = w * x
//
// At the first instant of a segment `p` is what earlier segments have made of it; after that it waits for `dw`, but
// nobody asks. In one unit `w` and `y` are computed by the leading sweep, and `p` by the last one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "semantics/core/components.h"
#include "semantics/time/find_cut.h"

namespace rml {

// What is one component: nothing that is not; those with one end and what lies between them; and what follows them.
enum class Windows : std::uint8_t { apart, shared, wide };

struct SharedWindows {
  Components components;
  std::map<ValueId, SegmentResult> plans;  // by the first value of the component
};

// Nothing where no two share one, or where what they would be together has no plan without assumptions, or looks beyond
// the end.
std::optional<SharedWindows> share_windows(const DependenceGraph&, const Components&,
                                           const std::map<ValueId, SegmentResult>& plans, Windows);

}  // namespace rml
