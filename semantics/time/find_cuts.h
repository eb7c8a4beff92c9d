// Finds, for each component that looks ahead, where its segments end, and the sweeps over them.
//
// A segment may end where no post of its component is open (semantics/time/need_functions.h). If
// a condition of the program holds exactly there, and the component has sweeps with it without an
// assumption, this condition is the cut. With `plain`, such a condition is the cut even if
// segments could end earlier. Otherwise the function is written into the core, as equations of
// values that precede the component:
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
  // The program with the equations written for cuts; other values keep their ids.
  std::shared_ptr<const Core> core;
  std::map<ValueId, SegmentResult> plans;  // plan of each component, by its first value
  std::vector<ValueId> ends;               // written values that end a segment
};

enum class Ends : std::uint8_t { plain, by_need };

// The core must have no components with bounded look-ahead; or only the components in `wanted`
// are planned.
Cuts find_cuts(std::shared_ptr<const Core>, const DependenceGraph&, const Components&, Ends,
               const std::vector<std::uint32_t>* wanted = nullptr);

}  // namespace rml
