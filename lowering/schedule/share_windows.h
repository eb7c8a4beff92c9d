// Makes one component of those whose segments end at the same instants, together with the values computed between them.
//
// By default each component that looks ahead is a unit of its own. Values that depend on it wait for the end of its
// segment, even if some of them are known earlier:
//
//   dw = x + post_end(e, 0.0, dw);  first = true fby e
//   p = 0.5 fby (if first then p - dw else p);  w = if first then p else (0.0 fby w);  y = w * x
//
// At the first instant of a segment, earlier segments determine `p`. Afterwards `p` waits for `dw`, but no value reads
// it there. In one unit the leading sweep computes `w` and `y`, and the last sweep computes `p`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "semantics/core/components.h"
#include "semantics/time/find_cut.h"

namespace rml {

// Which components are joined. `apart`: none; `shared`: those with the same end and the values between them; `wide`:
// also the values that depend on them.
enum class Windows : std::uint8_t { apart, shared, wide };

struct SharedWindows {
  Components components;
  std::map<ValueId, SegmentResult> plans;  // plan of each component, by its first value
};

// Nothing if no two components share an end, or if the joined component has no plan without assumptions, or looks
// beyond the end.
std::optional<SharedWindows> share_windows(const DependenceGraph&, const Components&,
                                           const std::map<ValueId, SegmentResult>& plans, Windows);

}  // namespace rml
