// Where the segments of each component that looks ahead end, and their passes.
//
// A segment may end where no post of its component is open (semantics/time/need_functions.h). Where that is so just
// where one condition of the program holds, under which the component has passes without an assumption, the condition
// ends it; `plain`: also where it could end earlier. Else the function is written into the core, as equations of what
// comes before the component:
//
//   y = if q then (if e then x else post y) else post y       cut: q and e
//   g = r + 0.5 * post_end(done or truncated, 0.0, g)         cut: done or truncated
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "semantics/time/find_cut.h"

namespace rml {

struct Cuts {
  std::shared_ptr<const Core> core;        // with the equations that were written; others keep their ids
  std::map<ValueId, SegmentResult> plans;  // by the first value of the component
  std::vector<ValueId> ends;               // what was written, and ends a segment
};

enum class Ends : std::uint8_t { plain, by_need };

// Of a core without components that look ahead a bounded number of instants, or of those with `wanted` alone.
Cuts find_cuts(std::shared_ptr<const Core>, const DependenceGraph&, const Components&, Ends,
               const std::vector<std::uint32_t>* wanted = nullptr);

}  // namespace rml
