// Reductions over rows: for some columns at a time, so that their sums stay in registers.
#pragma once

#include <vector>

#include "lowering/llvm/elements/sums.h"

namespace rml::codegen {

struct Strips {
  std::size_t kept = 0;    // axes in front of those that are reduced
  std::int64_t width = 0;  // columns of each; 0: none
};
// Of a loop over this shape; views: of its members.
Strips find_strips(const Function&, const std::vector<ValueId>& members, const Shape&,
                   const std::vector<Strides>& views);
// The loops of one strip after another: body(places of the members, offsets of the views) for every element.
void in_strips(Function&, Strips, const std::vector<ValueId>& members, const Shape&, const std::vector<Strides>& views,
               const std::vector<IrValue>& to, Work, const LoopBody&);

}  // namespace rml::codegen
